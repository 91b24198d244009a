package cluster

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// The intervals between reads of an object: heldAgain if it exists; otherwise
// missingAgain at first, doubled up to heldAgain. At most atATick objects of a kind are
// read in each tick, which limits the load of the API server. The namespaces take turns.
const (
	tick         = time.Second
	heldAgain    = 10 * time.Second
	missingAgain = 2 * time.Second
	atATick      = 50
)

// polledObjects are the objects of one kind that Ingresses refer to. They are read one by
// one by name, because a permission to list or watch would cover all objects of the kind.
type polledObjects[T any, P snapshot.Object[T]] struct {
	source *Source
	kind   string
	// get reads an object of at least a version: "0" for any version in the cache of the
	// API server, "" for the newest.
	get   func(ctx context.Context, name snapshot.Name, version string, into P) error
	strip func(P)

	mu   sync.Mutex
	held map[snapshot.Name]*polledObject[P]
	// names are the names in held, sorted. unread is the number of those that have not
	// been read yet.
	names  []snapshot.Name
	unread int
	// listed are the objects that exist, and denied those that must not be read. Both are
	// recomputed if listed is nil.
	listed []P
	denied []model.ObjectRef
}

// polledObject is a referenced object: nil if it does not exist or cannot be read.
type polledObject[P any] struct {
	object  P
	version string
	// forbidden is set if the permission to read it is missing.
	forbidden bool
	// due is the time of the next read; zero before the first one. wait is the interval
	// before due if the object does not exist.
	due  time.Time
	wait time.Duration
}

func (p *polledObjects[T, P]) what(name snapshot.Name) string { return p.kind + " " + name.String() }

// begin reads the held objects again and again, until ctx ends.
func (p *polledObjects[T, P]) begin(ctx context.Context) {
	go func() {
		ticks := time.NewTicker(tick)
		defer ticks.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case now := <-ticks.C:
				reading, cancel := context.WithTimeout(ctx, readTimeout)
				if p.read(reading, p.due(now)) {
					p.source.signal.touch()
				}
				cancel()
			}
		}
	}()
}

// follow sets the names of the held objects, and reads the new ones.
func (p *polledObjects[T, P]) follow(ctx context.Context, names []snapshot.Name) {
	p.read(ctx, p.keep(names))
}

// keep sets the names of the held objects, and returns the new ones. names are sorted and
// must not change afterwards.
func (p *polledObjects[T, P]) keep(names []snapshot.Name) (added []snapshot.Name) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if sameNames(p.names, names) {
		return nil
	}
	gone, added := others(p.names, names)
	for _, name := range gone {
		if p.held[name].due.IsZero() {
			p.unread--
		}
		delete(p.held, name)
		p.source.troubles.forget(p.what(name))
	}
	for _, name := range added {
		p.held[name] = &polledObject[P]{}
		p.unread++
	}
	p.names, p.listed = names, nil
	return added
}

// due returns the objects to read again: first those that do not exist, up to half of
// atATick, and then the others.
func (p *polledObjects[T, P]) due(now time.Time) []snapshot.Name {
	p.mu.Lock()
	defer p.mu.Unlock()
	var missing, held []snapshot.Name
	for name, s := range p.held {
		switch {
		case s.due.IsZero() || now.Before(s.due): // its first read has not ended, or not due
		case s.object == nil:
			missing = append(missing, name)
		default:
			held = append(held, name)
		}
	}
	missing = p.inTurn(missing, atATick/2)
	return append(missing, p.inTurn(held, atATick-len(missing))...)
}

// inTurn returns at most a number of names: one of each namespace, then a second one of
// each, and so on. Within that, the earliest due come first. So a namespace with many
// references does not delay others.
func (p *polledObjects[T, P]) inTurn(names []snapshot.Name, most int) []snapshot.Name {
	earlier := func(a, b snapshot.Name) int { return p.held[a].due.Compare(p.held[b].due) }
	slices.SortFunc(names, earlier)
	before, place := map[string]int{}, make(map[snapshot.Name]int, len(names))
	for _, name := range names {
		place[name] = before[name.Namespace]
		before[name.Namespace]++
	}
	slices.SortStableFunc(names, func(a, b snapshot.Name) int { return place[a] - place[b] })
	return names[:min(len(names), most)]
}

// read reads objects, and reports whether any of them changed.
func (p *polledObjects[T, P]) read(ctx context.Context, names []snapshot.Name) (changed bool) {
	differs := make([]bool, len(names))
	aFewAtOnce(len(names), func(i int) {
		var o P = new(T)
		err := p.get(ctx, names[i], "0", o)
		if err == nil && p.isOlder(names[i], o) {
			o = new(T)
			err = p.readNewest(ctx, names[i], o)
		}
		if apierrors.IsNotFound(err) {
			o, err = nil, nil
		}
		differs[i] = p.hold(names[i], o, err)
	})
	return slices.Contains(differs, true)
}

// isOlder reports whether an object is older than the held one. Either the cache of this
// API server is behind that of another one, or etcd was restored from a backup.
func (p *polledObjects[T, P]) isOlder(name snapshot.Name, o P) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.held[name]
	return s != nil && older(o.GetResourceVersion(), s.version)
}

// readNewest reads an object from etcd, and accepts any version.
func (p *polledObjects[T, P]) readNewest(ctx context.Context, name snapshot.Name, into P) error {
	err := p.get(ctx, name, "", into)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.held[name]; s != nil {
		s.version = ""
	}
	return nil
}

// hold stores the result of a read, and reports whether it is a change. After an error, the
// previous object stays.
func (p *polledObjects[T, P]) hold(name snapshot.Name, o P, err error) (changed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.held[name]
	if s == nil {
		return false // no longer referenced
	}
	p.source.troubles.set(p.what(name), err)
	switch {
	case apierrors.IsForbidden(err):
		changed, s.forbidden = !s.forbidden, true
	case err != nil || o != nil && older(o.GetResourceVersion(), s.version):
	case o == nil:
		changed = s.object != nil || s.forbidden
		s.object, s.version, s.forbidden = nil, "", false
	case o.GetResourceVersion() != s.version:
		s.version = o.GetResourceVersion()
		p.strip(o)
		o.SetResourceVersion("")
		if changed = !reflect.DeepEqual(s.object, o); changed {
			s.object = o
		}
	}
	if s.due.IsZero() {
		p.unread--
	}
	if changed {
		p.listed = nil
	}
	p.again(s)
	return changed
}

// again sets the time of the next read.
func (p *polledObjects[T, P]) again(s *polledObject[P]) {
	switch {
	case s.object != nil:
		s.wait = 0
	case s.wait == 0:
		s.wait = missingAgain
	default:
		s.wait = min(2*s.wait, heldAgain)
	}
	s.due = time.Now().Add(cmp.Or(s.wait, heldAgain))
}

// all returns the objects that exist, in the order of their names.
func (p *polledObjects[T, P]) all() []P {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list()
	return p.listed
}

// forbidden returns the unknown objects for which the permission to read is missing.
func (p *polledObjects[T, P]) forbidden() []model.ObjectRef {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list()
	return p.denied
}

func (p *polledObjects[T, P]) list() {
	if p.listed != nil {
		return
	}
	p.listed, p.denied = make([]P, 0, len(p.names)), nil
	for _, name := range p.names {
		switch s := p.held[name]; {
		case s.object != nil:
			p.listed = append(p.listed, s.object)
		case s.forbidden:
			p.denied = append(p.denied, model.ObjectRef{Kind: p.kind, Namespace: name.Namespace, Name: name.Name})
		}
	}
}

// named returns an object, nil if it is unknown.
func (p *polledObjects[T, P]) named(name snapshot.Name) P {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.held[name]; s != nil {
		return s.object
	}
	return nil
}

// hasSynced reports whether each object was read once, successfully or not.
func (p *polledObjects[T, P]) hasSynced() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.unread == 0
}
