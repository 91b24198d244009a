package cluster

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"

	"sluice/internal/kube"
	"sluice/internal/snapshot"
)

// SecretMode is the way in which Secrets are read.
type SecretMode string

// The modes.
const (
	// SecretsByMetadata watches the metadata of all Secrets without keeping it, and
	// reads the content of referenced Secrets.
	SecretsByMetadata SecretMode = "metadata"
	// ReferencedSecrets reads each referenced Secret by its name, again every few
	// seconds. The permission get on these is enough.
	ReferencedSecrets SecretMode = "referenced"
	// AllSecrets watches all Secrets with their content.
	AllSecrets SecretMode = "all"
)

// SecretModes are all of them.
var SecretModes = []SecretMode{SecretsByMetadata, ReferencedSecrets, AllSecrets}

// notHelm excludes the Secrets in which Helm stores releases: nothing refers to them,
// and they are large.
var notHelm = fields.OneTermNotEqualSelector("type", "helm.sh/release.v1").String()

// secretSource provides the referenced Secrets.
type secretSource interface {
	// begin starts watching.
	begin(ctx context.Context)
	// follow sets the names of the referenced Secrets, and reads new ones.
	follow(ctx context.Context, names []snapshot.Name)
	all() []*corev1.Secret
	hasSynced() bool
}

func newSecrets(s *Source) secretSource {
	switch s.o.Secrets {
	case AllSecrets:
		return &allSecrets{source: s, collection: collection[corev1.Secret, *corev1.Secret]{strip: stripSecret, changed: s.signal.touch}}
	case ReferencedSecrets:
		return &polledObjects[corev1.Secret, *corev1.Secret]{
			source: s, kind: "Secret", strip: stripSecret, held: map[snapshot.Name]*polledObject[*corev1.Secret]{},
			get: func(ctx context.Context, name snapshot.Name, version string, into *corev1.Secret) error {
				return s.o.Client.Recall(ctx, kube.Secrets, name, version, into)
			},
		}
	}
	return &readSecrets{source: s, held: map[snapshot.Name]heldSecret{}, stale: map[snapshot.Name]bool{}}
}

// allSecrets implements AllSecrets.
type allSecrets struct {
	source *Source
	collection[corev1.Secret, *corev1.Secret]
}

func (a *allSecrets) begin(ctx context.Context) {
	s := a.source
	where := kube.Selection{Namespace: s.o.Namespace, Fields: notHelm}
	s.keepUp(ctx, "secrets", s.o.Client.ListWatch(kube.Secrets, where, func() runtime.Object { return &corev1.SecretList{} }), &a.collection)
}

func (a *allSecrets) follow(context.Context, []snapshot.Name) {}

// readSecrets implements SecretsByMetadata. It is the store of a reflector of
// metadata.
type readSecrets struct {
	source *Source
	mu     sync.Mutex
	held   map[snapshot.Name]heldSecret
	synced bool
	// names are the names of the referenced Secrets, each of them in held. stale are those
	// to read. listed are the Secrets that exist; nil if they must be listed anew.
	names  []snapshot.Name
	stale  map[snapshot.Name]bool
	listed []*corev1.Secret
}

// heldSecret is a referenced Secret: nil if it does not exist. A stale one is read
// again: its metadata changed after its last read began. news is the version in the
// metadata, empty if the Secret is not listed.
type heldSecret struct {
	secret         *corev1.Secret
	version        string
	stale, reading bool
	news           string
	// late is set if the last read failed.
	late bool
}

func (r *readSecrets) begin(ctx context.Context) {
	s := r.source
	s.keepUp(ctx, "metadata of secrets", s.o.Client.MetadataListWatch(kube.Secrets, kube.Selection{Namespace: s.o.Namespace, Fields: notHelm}), r)
}

// Add, Update, Delete, Replace and Resync implement cache.ReflectorStore for
// *metav1.PartialObjectMetadata.
func (r *readSecrets) Add(o any) error { return r.Update(o) }

// Update records a new or changed Secret.
func (r *readSecrets) Update(o any) error {
	meta := o.(*metav1.PartialObjectMetadata)
	r.mu.Lock()
	stale := r.outdate(snapshot.NameOf(meta), meta.ResourceVersion)
	r.mu.Unlock()
	if stale {
		r.source.signal.touch()
	}
	return nil
}

// outdate records the version of a Secret, and reports whether it has to be read.
func (r *readSecrets) outdate(name snapshot.Name, version string) bool {
	held, ok := r.held[name]
	if !ok || held.version == version || older(version, held.version) {
		return false
	}
	held.stale, held.news = true, version
	r.put(name, held)
	return true
}

// put replaces the entry of a name.
func (r *readSecrets) put(name snapshot.Name, held heldSecret) {
	r.held[name] = held
	if held.stale {
		r.stale[name] = true
	} else {
		delete(r.stale, name)
	}
}

// Delete records that a Secret was deleted. It is read again, because there can be a new
// one of that name by now.
func (r *readSecrets) Delete(o any) error { return r.Update(o) }

// Replace records which Secrets exist. Held ones with another version, or that are
// not listed, are read again.
func (r *readSecrets) Replace(list []any, _ string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	versions := make(map[snapshot.Name]string, len(r.held))
	for _, o := range list {
		meta := o.(*metav1.PartialObjectMetadata)
		if _, ok := r.held[snapshot.NameOf(meta)]; ok {
			versions[snapshot.NameOf(meta)] = meta.ResourceVersion
		}
	}
	for name, held := range r.held {
		missing := held.secret == nil && !held.reading && versions[name] == ""
		if missing || versions[name] == held.version && held.version != "" {
			continue
		}
		held.stale, held.news = true, versions[name]
		r.put(name, held)
	}
	r.synced = true
	r.source.signal.touch()
	return nil
}

// Resync does nothing, because nothing is lost in between.
func (r *readSecrets) Resync() error { return nil }

func (r *readSecrets) hasSynced() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.synced
}

func (r *readSecrets) all() []*corev1.Secret {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.listed == nil {
		r.listed = make([]*corev1.Secret, 0, len(r.names))
		for _, name := range r.names {
			if secret := r.held[name].secret; secret != nil {
				r.listed = append(r.listed, secret)
			}
		}
	}
	return r.listed
}

// follow reads new and stale Secrets. If a read fails, the previous content stays.
// When ctx ends, reading continues in the background and its end causes a signal.
// follow does not wait for Secrets whose last read failed, except on the first call.
func (r *readSecrets) follow(ctx context.Context, names []snapshot.Name) {
	wanted := r.mark(names)
	if !r.source.loaded {
		r.readAll(ctx, wanted)
		return
	}
	var late, soon []snapshot.Name
	for _, name := range wanted {
		if r.isLate(name) {
			late = append(late, name)
		} else {
			soon = append(soon, name)
		}
	}
	nobodyWaits, cancel := context.WithCancel(ctx)
	cancel()
	r.readAside(nobodyWaits, late)
	select {
	case <-r.readAside(ctx, soon):
	case <-ctx.Done():
	}
}

// readAside reads Secrets in the background, and closes the returned channel at the
// end. It signals if nobody waits any more, because ctx has ended, or if something
// has to be read again.
func (r *readSecrets) readAside(waiting context.Context, wanted []snapshot.Name) (done <-chan struct{}) {
	ended := make(chan struct{})
	if len(wanted) == 0 {
		close(ended)
		return ended
	}
	go func() {
		ctx, cancel := context.WithTimeout(r.source.watching, readTimeout)
		defer cancel()
		failed := r.readAll(ctx, wanted)
		unseen := waiting.Err() != nil
		close(ended)
		if unseen && failed < len(wanted) || slices.ContainsFunc(wanted, r.changedMeanwhile) {
			r.source.signal.touch()
		}
		if unseen && failed > 0 {
			r.source.tryAgain()
		}
	}()
	return ended
}

// readAll reads Secrets, a few at a time, and returns the number of failures.
func (r *readSecrets) readAll(ctx context.Context, wanted []snapshot.Name) (failed int) {
	if len(wanted) > many {
		wanted = r.readPages(ctx, wanted)
	}
	var failures atomic.Int64
	aFewAtOnce(len(wanted), func(i int) {
		secret, err := r.read(ctx, wanted[i])
		r.source.troubles.set("Secret "+wanted[i].String(), err)
		if err != nil {
			r.unread(wanted[i])
			failures.Add(1)
			return
		}
		r.hold(wanted[i], secret)
	})
	return int(failures.Load())
}

// changedMeanwhile reports whether the metadata has another version than the content
// that was read.
func (r *readSecrets) changedMeanwhile(name snapshot.Name) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.held[name].stale && !r.held[name].late
}

func (r *readSecrets) isLate(name snapshot.Name) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.held[name].late
}

// mark drops unreferenced Secrets and returns those to read, except those that are
// being read. Later metadata makes them stale again.
func (r *readSecrets) mark(names []snapshot.Name) (wanted []snapshot.Name) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !sameNames(r.names, names) {
		r.keep(names)
	}
	for name := range r.stale {
		if held := r.held[name]; !held.reading {
			wanted = append(wanted, name)
			held.reading, held.stale, held.news = true, false, ""
			r.put(name, held)
		}
	}
	slices.SortFunc(wanted, snapshot.Name.Compare)
	return wanted
}

// keep sets the names of the held Secrets. names are sorted and must not change afterwards.
func (r *readSecrets) keep(names []snapshot.Name) {
	gone, came := others(r.names, names)
	for _, name := range gone {
		delete(r.held, name)
		delete(r.stale, name)
		r.source.troubles.forget("Secret " + name.String())
	}
	for _, name := range came {
		r.put(name, heldSecret{stale: true})
	}
	r.names, r.listed = names, nil
}

// hold stores the content of a Secret. If it changed meanwhile, it stays stale and is
// read once more.
func (r *readSecrets) hold(name snapshot.Name, secret *corev1.Secret) {
	r.mu.Lock()
	defer r.mu.Unlock()
	held, ok := r.held[name]
	if !ok {
		return
	}
	now := heldSecret{stale: held.stale, news: held.news}
	if secret != nil {
		now.version = secret.ResourceVersion
		now.stale = held.stale && held.news != now.version && !older(held.news, now.version)
		stripSecret(secret)
		secret.ResourceVersion = ""
		now.secret = secret
		if held.secret != nil && reflect.DeepEqual(held.secret, secret) {
			now.secret = held.secret
		}
	}
	if r.put(name, now); now.secret != held.secret {
		r.listed = nil
	}
}

// unread schedules another attempt after a failed read.
func (r *readSecrets) unread(name snapshot.Name) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if held, ok := r.held[name]; ok {
		held.stale, held.reading, held.late = true, false, true
		r.put(name, held)
	}
	r.source.retry()
}
