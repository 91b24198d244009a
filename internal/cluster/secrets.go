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

// SecretMode says how Secrets are watched.
type SecretMode string

// The ways to watch Secrets.
const (
	// SecretsByMetadata watches the metadata of all Secrets, keeps nothing of it,
	// and reads the content of those that something refers to.
	SecretsByMetadata SecretMode = "metadata"
	// ReferencedSecrets reads each Secret that something refers to by its name, and
	// again every few seconds, so that the right to get these is enough.
	ReferencedSecrets SecretMode = "referenced"
	// AllSecrets watches all Secrets with their content.
	AllSecrets SecretMode = "all"
)

// SecretModes are all of them.
var SecretModes = []SecretMode{SecretsByMetadata, ReferencedSecrets, AllSecrets}

// notHelm leaves out the Secrets that Helm keeps its releases in: nothing refers
// to them, and they are large.
var notHelm = fields.OneTermNotEqualSelector("type", "helm.sh/release.v1").String()

// secretSource gives the Secrets that something refers to.
type secretSource interface {
	// begin starts watching.
	begin(ctx context.Context)
	// follow makes names those that something refers to, and reads what is new.
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
			get: func(ctx context.Context, name snapshot.Name, into *corev1.Secret) error {
				return s.o.Client.Recall(ctx, kube.Secrets, name, into)
			},
		}
	}
	return &readSecrets{source: s, held: map[snapshot.Name]heldSecret{}, stale: map[snapshot.Name]bool{}}
}

// allSecrets is AllSecrets.
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

// readSecrets is SecretsByMetadata. It is a store of a reflector of metadata.
type readSecrets struct {
	source *Source
	mu     sync.Mutex
	held   map[snapshot.Name]heldSecret
	synced bool
	// names are those that something refers to, each of them held. stale are those of
	// them that are to be read. listed are the Secrets that there are of them, nil if
	// that is to be found out.
	names  []snapshot.Name
	stale  map[snapshot.Name]bool
	listed []*corev1.Secret
}

// heldSecret is a Secret that something refers to: nil if it does not exist.
// Stale ones are read anew: those that metadata told of since they were last
// read, or began to be. news is the version that it told of, empty if it did not
// list them.
type heldSecret struct {
	secret         *corev1.Secret
	version        string
	stale, reading bool
	news           string
	// late is set if it could not be read the last time.
	late bool
}

func (r *readSecrets) begin(ctx context.Context) {
	s := r.source
	s.keepUp(ctx, "metadata of secrets", s.o.Client.MetadataListWatch(kube.Secrets, kube.Selection{Namespace: s.o.Namespace, Fields: notHelm}), r)
}

// Add, Update, Delete, Replace and Resync are cache.ReflectorStore, for
// *metav1.PartialObjectMetadata.
func (r *readSecrets) Add(o any) error { return r.Update(o) }

// Update notes that a Secret came or changed.
func (r *readSecrets) Update(o any) error {
	meta := o.(*metav1.PartialObjectMetadata)
	r.mu.Lock()
	stale := r.outdate(nameOf(meta), meta.ResourceVersion)
	r.mu.Unlock()
	if stale {
		r.source.signal.touch()
	}
	return nil
}

// outdate notes that a Secret has a version, and says whether that is to be read.
func (r *readSecrets) outdate(name snapshot.Name, version string) bool {
	held, ok := r.held[name]
	if !ok || held.version == version || older(version, held.version) {
		return false
	}
	held.stale, held.news = true, version
	r.put(name, held)
	return true
}

// put replaces what is held of a name.
func (r *readSecrets) put(name snapshot.Name, held heldSecret) {
	r.held[name] = held
	if held.stale {
		r.stale[name] = true
	} else {
		delete(r.stale, name)
	}
}

// Delete notes that a Secret went. It is read, like one that changed: there may
// be another of its name by now.
func (r *readSecrets) Delete(o any) error { return r.Update(o) }

// Replace notes which Secrets there are. Those that are held in another version,
// or are not listed, are read anew.
func (r *readSecrets) Replace(list []any, _ string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	versions := make(map[snapshot.Name]string, len(r.held))
	for _, o := range list {
		meta := o.(*metav1.PartialObjectMetadata)
		if _, ok := r.held[nameOf(meta)]; ok {
			versions[nameOf(meta)] = meta.ResourceVersion
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

// Resync does nothing: nothing is forgotten in between.
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

// follow reads what is new or stale. What cannot be read stays as it was. Reading
// goes on when ctx is done, and its end is a signal then. What could not be read
// the last time is not waited for, unless it is the first time that anything is.
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

// readAside reads Secrets while others go on, and closes what it returns when that
// is over. It signals if nobody waits for that any more, which is when ctx is done,
// or if something is to be read again.
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

// readAll reads Secrets, a few at a time, and gives how many could not be read.
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

// changedMeanwhile says whether metadata told of another version than was read.
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

// mark drops what nothing refers to any more and gives what is to be read, but for
// what is being read already. What metadata tells from now on outdates that.
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

// keep holds Secrets of these names, which are sorted and never change, and no others.
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

// hold keeps what was read. A Secret that changed meanwhile, into something else
// than what was read, stays stale and is read once more.
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

// unread has a Secret that could not be read tried again after a while.
func (r *readSecrets) unread(name snapshot.Name) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if held, ok := r.held[name]; ok {
		held.stale, held.reading, held.late = true, false, true
		r.put(name, held)
	}
	r.source.retry()
}

// read gives a Secret, nil if there is none. It is listed by its name, which
// costs the API server no more than a get: the right to list is needed for the
// metadata anyway, and ingress-nginx's ClusterRole grants no other.
func (r *readSecrets) read(ctx context.Context, name snapshot.Name) (*corev1.Secret, error) {
	var list corev1.SecretList
	one := metav1.ListOptions{FieldSelector: kube.ByName(name.Name)}
	if err := r.source.o.Client.List(ctx, kube.Secrets, name.Namespace, one, &list); err != nil {
		return nil, err
	}
	if len(list.Items) == 0 {
		return nil, nil
	}
	return &list.Items[0], nil
}

// many is from how many Secrets on certificates are read by pages.
const many = 100

// readPages reads many Secrets in a few requests: all that hold certificates are
// read, and those that are wanted are kept. It gives those that remain.
func (r *readSecrets) readPages(ctx context.Context, wanted []snapshot.Name) []snapshot.Name {
	left := make(map[snapshot.Name]bool, len(wanted))
	for _, name := range wanted {
		left[name] = true
	}
	page := metav1.ListOptions{Limit: 500, FieldSelector: fields.OneTermEqualSelector("type", string(corev1.SecretTypeTLS)).String()}
	for {
		var list corev1.SecretList
		if err := r.source.o.Client.List(ctx, kube.Secrets, r.source.o.Namespace, page, &list); err != nil {
			break // each is read on its own, and tells what is wrong
		}
		for _, secret := range pointers(list.Items) {
			if name := nameOf(secret); left[name] {
				delete(left, name)
				r.hold(name, secret)
				r.source.troubles.set("Secret "+name.String(), nil)
			}
		}
		if page.Continue = list.Continue; page.Continue == "" {
			break
		}
	}
	return slices.DeleteFunc(wanted, func(name snapshot.Name) bool { return !left[name] })
}
