// Package cluster is a source of objects: the API server, watched.
//
// What goes in is a client; what comes out are the objects as they are now
// (Load), and one coalesced signal whenever that may have changed (Watch). Only
// what something refers to is kept, without what nobody reads, and objects that
// come again with the same content stay the same pointers. While the API server
// is away, what it said last stands.
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
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// atOnce bounds how many objects are read at the same time, apart from watches.
const atOnce = 10

// aFewAtOnce calls read with 0 to n-1, some at the same time, and returns when all
// have ended.
func aFewAtOnce(n int, read func(i int)) {
	workqueue.ParallelizeUntil(context.Background(), atOnce, n, read)
}

// Load waits for Secrets and ConfigMaps that something refers to anew no longer
// than ownedWait, as the other objects go on meanwhile, and for namespaces that are
// read apart no longer than readTimeout; the first time firstTimeout. What could
// not be read is tried again after a while, which doubles from again to atMost.
const (
	ownedWait    = 500 * time.Millisecond
	readTimeout  = 3 * time.Second
	firstTimeout = 30 * time.Second
	again        = time.Second
	atMost       = 30 * time.Second
)

// Options say what is watched.
type Options struct {
	Client *kube.Client
	// Namespace is the only one that is watched; empty for all.
	Namespace string
	// NamespaceSelector selects the namespaces whose Ingresses count, by their
	// labels; empty for all.
	NamespaceSelector string
	// Secrets says how Secrets are watched; empty means SecretsByMetadata.
	Secrets SecretMode
	// Translate says which objects are looked at.
	Translate translate.Options
	// Services are read besides those that Ingresses refer to.
	Services []snapshot.Name
}

// Source gives the objects of a cluster. Use New. Load is for one goroutine at a
// time.
type Source struct {
	o        Options
	signal   *signal
	troubles troubles

	ingresses  collection[networkingv1.Ingress, *networkingv1.Ingress]
	published  published
	classes    collection[networkingv1.IngressClass, *networkingv1.IngressClass]
	namespaces collection[corev1.Namespace, *corev1.Namespace]
	// configMaps are those of the settings, which flags and IngressClasses name;
	// headers those that Ingresses name.
	configMaps named[corev1.ConfigMap, *corev1.ConfigMap]
	headers    *polledObjects[corev1.ConfigMap, *corev1.ConfigMap]
	routed     *routed
	secrets    secretSource

	// watching is the context of all watches, from Watch on.
	watching context.Context
	begun    sync.Once
	// loaded is set once Load has given something.
	loaded bool
	// unread is set if something could not be read apart from the watches since
	// the last Load began; delay and retrying are of the next attempt.
	unread   atomic.Bool
	trying   sync.Mutex // of the two that follow
	delay    time.Duration
	retrying *time.Timer
	// overdue is set while something that is watched by its name did not come in
	// time.
	overdue bool
	// needs is what was found out from the Ingresses, which is not done anew
	// while these and the classes stay the same.
	needs needs
}

// New prepares a source. Nothing is asked of the API server before Watch.
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

// Watch begins to watch, until ctx ends, and gives the signals that Load may say
// something new. Signals that nobody took yet become one.
func (s *Source) Watch(ctx context.Context) (<-chan struct{}, error) {
	if s.watching != nil {
		return nil, errors.New("the cluster is watched already")
	}
	s.watching = ctx
	go s.signal.run(ctx)
	where := kube.Selection{Namespace: s.o.Namespace}
	s.keepUp(ctx, "ingresses", s.o.Client.ListWatch(kube.Ingresses, where, func() runtime.Object { return &networkingv1.IngressList{} }), &s.ingresses)
	s.keepUp(ctx, "ingressclasses", s.o.Client.ListWatch(kube.IngressClasses, kube.Selection{}, func() runtime.Object { return &networkingv1.IngressClassList{} }), &s.classes)
	if s.o.NamespaceSelector != "" {
		selected := kube.Selection{Labels: s.o.NamespaceSelector}
		s.keepUp(ctx, "namespaces", s.o.Client.ListWatch(kube.Namespaces, selected, func() runtime.Object { return &corev1.NamespaceList{} }), &s.namespaces)
	}
	s.secrets.begin(ctx)
	s.headers.begin(ctx)
	return s.signal.out, nil
}

// Load gives what the cluster says now. The first call waits until all is known;
// it fails only when ctx ends.
func (s *Source) Load(ctx context.Context) (snapshot.Loaded, error) {
	if err := s.wait(ctx, s.ownersKnown); err != nil {
		return snapshot.Loaded{}, err
	}
	ingresses := s.selected(s.ingresses.all())
	classes := s.classes.all()
	options := s.o.Translate
	options.ClassesUnreadable = s.classesUnreadable()
	s.needs.update(ingresses, classes, options)
	s.begun.Do(func() { s.routed.begin(s.watching, s.routedNamespaces()) })
	s.configMaps.watch(s.watching, s.needs.settings)
	for known := false; !known; known = s.readOwned(ctx) || s.loaded {
		if ctx.Err() != nil {
			return snapshot.Loaded{}, ctx.Err()
		}
	}
	s.loaded = true
	s.tryAgain()
	loaded := snapshot.Loaded{Errors: s.troubles.all(), ClassesUnreadable: options.ClassesUnreadable}
	loaded.Objects = snapshot.Objects{
		Ingresses: ingresses, IngressClasses: classes, Services: s.routed.services.all(), EndpointSlices: s.routed.slices.all(),
		Secrets: s.secrets.all(), ConfigMaps: append(s.configMaps.all(), s.headers.all()...), Namespaces: s.namespaces.all(),
	}
	return loaded, ctx.Err()
}

// Missing says what has not been read yet for the first time, for those who wait
// for readiness; nil if all has.
func (s *Source) Missing() error {
	if s.ownersKnown() && s.ownedKnown() && !s.settingsUnreadable() {
		return nil
	}
	return errors.Join(append([]error{errors.New("not all objects are read yet")}, s.troubles.all()...)...)
}

// ownersKnown says whether all is read that says what else is to be read.
func (s *Source) ownersKnown() bool {
	return s.ingresses.hasSynced() && (s.classes.hasSynced() || s.classesUnreadable()) &&
		(s.o.NamespaceSelector == "" || s.namespaces.hasSynced())
}

// classesUnreadable says whether IngressClasses must not be read, and never were:
// what was read once stands.
func (s *Source) classesUnreadable() bool {
	return !s.classes.hasSynced() && s.troubles.forbidden("ingressclasses")
}

// ownedKnown says whether the rest is read.
func (s *Source) ownedKnown() bool {
	return s.routed.services.hasSynced() && s.routed.slices.hasSynced() && s.configMaps.hasSynced() && s.headers.hasSynced() && s.secrets.hasSynced()
}

// readOwned reads what the owners refer to. It reports whether all of it is known,
// as far as it may be read.
func (s *Source) readOwned(ctx context.Context) bool {
	timeout, wait := readTimeout, ownedWait
	if !s.loaded {
		timeout, wait = firstTimeout, firstTimeout
	}
	waiting, enough := context.WithTimeout(ctx, wait)
	defer enough()
	s.secrets.follow(waiting, s.needs.secrets.list())
	s.headers.follow(waiting, s.needs.headers.list())
	err := s.awaitOwned(waiting)
	reading, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
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

// awaitOwned waits for what is watched by its name. What did not come in time is
// not waited for again: its watch signals that it is there.
func (s *Source) awaitOwned(ctx context.Context) error {
	if s.overdue && !s.ownedKnown() {
		return nil
	}
	err := s.wait(ctx, s.ownedKnown)
	s.overdue = s.loaded && err != nil
	return err
}

// settingsUnreadable says whether the controller's settings cannot be read. They
// may say who is let in, so that nothing is served before.
func (s *Source) settingsUnreadable() bool {
	name := s.o.Translate.ConfigMap
	return name != (snapshot.Name{}) && s.troubles.has(s.configMaps.what(name)) && s.configMaps.get(name) == nil
}

// retry notes that something could not be read, for Load to try it again.
func (s *Source) retry() { s.unread.Store(true) }

// tryAgain has Load called again after a while if something could not be read.
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

// wait returns when known does.
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

// selected leaves out the Ingresses of namespaces that are not selected.
func (s *Source) selected(ingresses []*networkingv1.Ingress) []*networkingv1.Ingress {
	if s.o.NamespaceSelector == "" {
		return ingresses
	}
	return slices.DeleteFunc(slices.Clone(ingresses), func(o *networkingv1.Ingress) bool {
		return s.namespaces.get(snapshot.Name{Name: o.Namespace}) == nil
	})
}
