// Package cluster reads objects from the API server and follows their changes.
//
// It takes a client. It returns the current objects (Load), and one combined signal
// when they may have changed (Watch). It keeps only referenced objects, without
// unused fields, and an object that arrives again with the same content keeps its
// pointer. While the API server is unavailable, the last state stays in force.
//
//	source := cluster.New(cluster.Options{Client: client, Translate: options})
//	changes, err := source.Watch(ctx)
//	for range changes {
//		loaded, err := source.Load(ctx)
//		...
//	}
package cluster

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/workqueue"

	"sluice/internal/kube"
	"sluice/internal/model"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// atOnce is the maximum number of concurrent reads, besides watches.
const atOnce = 10

// aFewAtOnce calls read with 0 to n-1, some of them concurrently, and returns when
// all have ended.
func aFewAtOnce(n int, read func(i int)) {
	workqueue.ParallelizeUntil(context.Background(), atOnce, n, read)
}

// Limits of Load. It waits for newly referenced Secrets and ConfigMaps no longer than
// ownedWait, because other changes should go on, and for newly routed namespaces no
// longer than readTimeout; the first time firstTimeout. A failed read is retried
// after again, then at doubling intervals up to atMost.
const (
	ownedWait    = 500 * time.Millisecond
	readTimeout  = 3 * time.Second
	firstTimeout = 30 * time.Second
	again        = time.Second
	atMost       = 30 * time.Second
)

// Options configure a Source.
type Options struct {
	Client *kube.Client
	// Namespace is the only watched namespace; empty for all.
	Namespace string
	// NamespaceSelector selects the namespaces of served Ingresses by label; empty
	// for all.
	NamespaceSelector string
	// Secrets is the mode for Secrets; empty means SecretsByMetadata.
	Secrets SecretMode
	// Translate determines which objects are needed.
	Translate translate.Options
	// Services are read in addition to those that Ingresses refer to.
	Services []snapshot.Name
	// Replicas is the Service whose ready endpoints are the replicas of the controller,
	// empty if it is not known.
	Replicas snapshot.Name
}

// Source provides the objects of a cluster. Use New. Load is not safe for concurrent
// use.
type Source struct {
	o        Options
	signal   *signal
	troubles troubles

	ingresses  collection[networkingv1.Ingress, *networkingv1.Ingress]
	published  published
	classes    collection[networkingv1.IngressClass, *networkingv1.IngressClass]
	namespaces collection[corev1.Namespace, *corev1.Namespace]
	// configMaps are the ConfigMaps with settings, which flags and IngressClasses refer
	// to; headers those that Ingresses and the settings refer to.
	configMaps named[corev1.ConfigMap, *corev1.ConfigMap]
	headers    *polledObjects[corev1.ConfigMap, *corev1.ConfigMap]
	routed     *routed
	replicas   replicas
	secrets    secretSource

	// watching is the context of all watches, set by Watch.
	watching context.Context
	begun    sync.Once
	// loaded is set once Load has returned objects.
	loaded bool
	// unread is set if a read outside the watches has failed since the last Load
	// began; delay and retrying belong to the next attempt.
	unread   atomic.Bool
	trying   sync.Mutex // guards the next two fields
	delay    time.Duration
	retrying *time.Timer
	// overdue is set while an object that is watched by name is late.
	overdue bool
	// ofSettings caches the references of the settings to ConfigMaps with headers.
	ofSettings settingsHeaders
	// needs caches the references of the Ingresses. They are recomputed only if
	// Ingresses or classes change.
	needs needs
}

// New returns a Source that sends no request before Watch.
func New(o Options) *Source {
	s := &Source{o: o, signal: newSignal()}
	s.published.changed = make(chan struct{}, 1)
	s.troubles.changed = s.signal.touch
	s.ingresses.strip, s.ingresses.aside, s.ingresses.gone, s.ingresses.changed = stripIngress, s.published.take, s.published.gone, s.signal.touch
	s.classes.strip, s.classes.changed = stripClass, s.signal.touch
	s.namespaces.strip, s.namespaces.changed = stripNamespace, s.signal.touch
	s.configMaps = named[corev1.ConfigMap, *corev1.ConfigMap]{
		source: s, resource: kube.ConfigMaps, kind: "ConfigMap", strip: stripConfigMap,
		list: func() runtime.Object { return &corev1.ConfigMapList{} },
	}
	s.headers = newHeaders(s)
	s.routed = newRouted(s)
	s.secrets = newSecrets(s)
	return s
}

// Watch starts the watches, until ctx ends, and returns the signals that Load may
// have news. Pending signals are combined.
func (s *Source) Watch(ctx context.Context) (<-chan struct{}, error) {
	if s.watching != nil {
		return nil, errors.New("the cluster is watched already")
	}
	s.watching = ctx
	go s.signal.run(ctx)
	where := kube.Selection{Namespace: s.o.Namespace}
	s.keepUp(ctx, "ingresses", s.o.Client.ListWatch(kube.Ingresses, where, func() runtime.Object { return &networkingv1.IngressList{} }), &s.ingresses)
	s.keepUp(ctx, "ingressclasses", s.o.Client.ListWatch(kube.IngressClasses, kube.Selection{}, func() runtime.Object { return &networkingv1.IngressClassList{} }), &s.classes)
	if s.readsNamespaces() {
		selected := kube.Selection{Labels: s.o.NamespaceSelector}
		s.keepUp(ctx, "namespaces", s.o.Client.ListWatch(kube.Namespaces, selected, func() runtime.Object { return &corev1.NamespaceList{} }), &s.namespaces)
	}
	s.secrets.begin(ctx)
	s.headers.begin(ctx)
	return s.signal.out, nil
}

// Load returns the current objects. The first call waits until everything is known;
// it fails only if ctx ends.
func (s *Source) Load(ctx context.Context) (snapshot.Loaded, error) {
	if err := s.wait(ctx, s.ownersKnown); err != nil {
		return snapshot.Loaded{}, err
	}
	of, options := s.refer()
	s.begun.Do(func() { s.routed.begin(s.watching, s.routedNamespaces()) })
	s.configMaps.watch(s.watching, s.needs.settings)
	for known := false; !known; known = s.readOwned(ctx) || s.loaded {
		if ctx.Err() != nil {
			return snapshot.Loaded{}, ctx.Err()
		}
	}
	s.loaded = true
	s.o.Client.Gather()
	s.tryAgain()
	slices := s.routed.slices.all()
	loaded := snapshot.Loaded{Errors: s.troubles.all(), ClassesUnreadable: options.ClassesUnreadable, Replicas: s.countReplicas(slices)}
	loaded.Objects = snapshot.Objects{
		Ingresses: of.ingresses, IngressClasses: of.classes, Services: s.routed.services.all(), EndpointSlices: slices,
		Secrets: s.secrets.all(), ConfigMaps: append(s.configMaps.all(), s.headers.all()...), Forbidden: s.forbidden(), Namespaces: of.spaces,
	}
	return loaded, ctx.Err()
}

// refer recomputes the references of the objects that are known now.
func (s *Source) refer() (referring, translate.Options) {
	of := referring{s.selected(s.ingresses.all()), s.classes.all(), s.namespaces.all(), translate.OnlyLayers(s.configMaps.all())}
	options := s.o.Translate
	options.ClassesUnreadable = s.classesUnreadable()
	s.needs.update(of, options)
	return of, options
}

// readsNamespaces reports whether Namespaces are watched. With a single namespace there is
// no permission to do so.
func (s *Source) readsNamespaces() bool { return s.o.Namespace == "" }

// forbidden returns the referenced objects for which the permission to read is missing.
func (s *Source) forbidden() []model.ObjectRef {
	found := s.headers.forbidden()
	if secrets, ok := s.secrets.(*polledObjects[corev1.Secret, *corev1.Secret]); ok {
		found = slices.Concat(found, secrets.forbidden())
	}
	return found
}

// Missing names the kinds that have not been read for the first time, for the
// readiness check; nil if there are none.
func (s *Source) Missing() error {
	if s.ownersKnown() && s.ownedKnown() && !s.settingsUnreadable() {
		return nil
	}
	return errors.Join(append([]error{errors.New("not all objects are read yet")}, s.troubles.all()...)...)
}

// ownersKnown reports whether the objects that refer to others are known.
func (s *Source) ownersKnown() bool {
	return s.ingresses.hasSynced() && (s.classes.hasSynced() || s.classesUnreadable()) &&
		(!s.readsNamespaces() || s.namespaces.hasSynced() || s.o.NamespaceSelector == "" && s.troubles.forbidden("namespaces"))
}

// classesUnreadable reports whether reading IngressClasses is forbidden and never
// succeeded. Classes that were read once stay in force.
func (s *Source) classesUnreadable() bool {
	return !s.classes.hasSynced() && s.troubles.forbidden("ingressclasses")
}

// ownedKnown reports whether the referenced objects are known.
func (s *Source) ownedKnown() bool {
	return s.routed.services.hasSynced() && s.routed.slices.hasSynced() && s.configMaps.hasSynced() && s.headers.hasSynced() && s.secrets.hasSynced()
}

// readOwned reads the referenced objects, and reports whether all readable ones are
// known.
func (s *Source) readOwned(ctx context.Context) bool {
	timeout, wait := readTimeout, ownedWait
	if !s.loaded {
		timeout, wait = firstTimeout, firstTimeout
	}
	waiting, enough := context.WithTimeout(ctx, wait)
	defer enough()
	if !s.overdue && s.wait(waiting, s.configMaps.hasSynced) == nil {
		s.refer() // they may give annotations that refer to others
	}
	s.needs.follow(translate.Secrets(s.configMaps.get, s.o.Translate))
	s.secrets.follow(waiting, s.needs.secrets.list())
	s.headers.follow(waiting, s.headerNames())
	err := s.awaitOwned(waiting)
	reading, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	s.headers.follow(reading, s.headerNames())
	s.routed.follow(reading, s.routedNamespaces())
	if s.loaded || !s.troubles.passing() && !s.settingsUnreadable() {
		return err == nil
	}
	select {
	case <-ctx.Done():
	case <-time.After(again):
	}
	return false
}

// awaitOwned waits for objects that are watched by name. It does not wait again for
// one that was late: its watch signals its arrival.
func (s *Source) awaitOwned(ctx context.Context) error {
	if s.overdue && !s.ownedKnown() {
		return nil
	}
	err := s.wait(ctx, s.ownedKnown)
	s.overdue = s.loaded && err != nil
	return err
}

// settingsUnreadable reports whether the settings of the controller cannot be read.
// They may restrict access, so nothing is served before.
func (s *Source) settingsUnreadable() bool {
	name := s.o.Translate.ConfigMap
	return name != (snapshot.Name{}) && s.troubles.has(s.configMaps.what(name)) && s.configMaps.get(name) == nil
}

// retry records a failed read, so that Load tries again.
func (s *Source) retry() { s.unread.Store(true) }

// tryAgain schedules another Load if a read failed.
func (s *Source) tryAgain() {
	s.trying.Lock()
	defer s.trying.Unlock()
	if s.retrying != nil {
		s.retrying.Stop()
	}
	if !s.unread.Swap(false) {
		s.delay = 0
		return
	}
	s.delay = min(max(2*s.delay, again), atMost)
	s.retrying = time.AfterFunc(s.delay, s.signal.touch)
}

// wait returns when known reports true.
func (s *Source) wait(ctx context.Context, known func() bool) error {
	const every = 2 * time.Millisecond
	for !known() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(every):
		}
	}
	return nil
}

// selected drops the Ingresses of namespaces that are not selected.
func (s *Source) selected(ingresses []*networkingv1.Ingress) []*networkingv1.Ingress {
	if s.o.NamespaceSelector == "" {
		return ingresses
	}
	return slices.DeleteFunc(slices.Clone(ingresses), func(o *networkingv1.Ingress) bool {
		return s.namespaces.get(snapshot.Name{Name: o.Namespace}) == nil
	})
}
