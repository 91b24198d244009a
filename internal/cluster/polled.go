package cluster

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"sluice/internal/snapshot"
)

// The rhythm in which objects are read again: those that exist, and those that
// somebody waits for. No more than atATick of a kind are read each tick, so that
// thousands cost the API server little and are heard of later.
const (
	tick         = time.Second
	heldAgain    = 10 * time.Second
	missingAgain = 2 * time.Second
	atATick      = 50
)

// polledObjects are the objects of one kind that Ingresses refer to, read by their
// names alone: who may list or watch a kind could read all of it. However many
// Ingresses name, none of them is a watch.
type polledObjects[T any, P object[T]] struct {
	source *Source
	kind   string
	get    func(ctx context.Context, name snapshot.Name, into P) error
	strip  func(P)

	mu   sync.Mutex
	held map[snapshot.Name]*polledObject[P]
}

// polledObject is an object that something refers to: nil if it does not exist or
// cannot be read.
type polledObject[P any] struct {
	object  P
	version string
	// due is when it is read again; the zero time is at once.
	due time.Time
}

func (p *polledObjects[T, P]) what(name snapshot.Name) string { return p.kind + " " + name.String() }

// begin reads again what is held, until ctx ends.
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

// follow makes names those that are held, and reads the new ones.
func (p *polledObjects[T, P]) follow(ctx context.Context, names []snapshot.Name) {
	p.read(ctx, p.keep(names))
}

// keep drops all but names, which are sorted, and gives those that are new.
func (p *polledObjects[T, P]) keep(names []snapshot.Name) (added []snapshot.Name) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name := range p.held {
		if _, stays := slices.BinarySearchFunc(names, name, snapshot.Name.Compare); !stays {
			delete(p.held, name)
			p.source.troubles.forget(p.what(name))
		}
	}
	for _, name := range names {
		if p.held[name] == nil {
			p.held[name] = &polledObject[P]{}
			added = append(added, name)
		}
	}
	return added
}

// due gives those to be read again, the ones that do not exist first, but no more
// of them than half.
func (p *polledObjects[T, P]) due(now time.Time) []snapshot.Name {
	p.mu.Lock()
	defer p.mu.Unlock()
	var missing, held []snapshot.Name
	for name, s := range p.held {
		switch {
		case s.due.IsZero() || now.Before(s.due): // being read for the first time, or not yet
		case s.object == nil:
			missing = append(missing, name)
		default:
			held = append(held, name)
		}
	}
	earlier := func(a, b snapshot.Name) int { return p.held[a].due.Compare(p.held[b].due) }
	slices.SortFunc(missing, earlier)
	slices.SortFunc(held, earlier)
	missing = missing[:min(len(missing), atATick/2)]
	return append(missing, held[:min(len(held), atATick-len(missing))]...)
}

// read reads objects and says whether one is another than before.
func (p *polledObjects[T, P]) read(ctx context.Context, names []snapshot.Name) (changed bool) {
	differs := make([]bool, len(names))
	aFewAtOnce(len(names), func(i int) {
		var o P = new(T)
		err := p.get(ctx, names[i], o)
		if apierrors.IsNotFound(err) {
			o, err = nil, nil
		}
		differs[i] = p.hold(names[i], o, err)
	})
	return slices.Contains(differs, true)
}

// hold keeps what was read. After an error it is what was there before.
func (p *polledObjects[T, P]) hold(name snapshot.Name, o P, err error) (changed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.held[name]
	if s == nil {
		return false // nothing refers to it any more
	}
	p.source.troubles.set(p.what(name), err)
	switch {
	case err != nil || o != nil && older(o.GetResourceVersion(), s.version):
	case o == nil:
		changed = s.object != nil
		s.object, s.version = nil, ""
	case o.GetResourceVersion() != s.version:
		s.version = o.GetResourceVersion()
		p.strip(o)
		o.SetResourceVersion("")
		if changed = !reflect.DeepEqual(s.object, o); changed {
			s.object = o
		}
	}
	s.due = time.Now().Add(heldAgain)
	if s.object == nil {
		s.due = time.Now().Add(missingAgain)
	}
	return changed
}

// all gives those that exist, in the order of their names.
func (p *polledObjects[T, P]) all() []P {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := make([]P, 0, len(p.held))
	for _, s := range p.held {
		if s.object != nil {
			found = append(found, s.object)
		}
	}
	slices.SortFunc(found, func(a, b P) int { return nameOf(a).Compare(nameOf(b)) })
	return found
}

// named gives one, nil if it is not known.
func (p *polledObjects[T, P]) named(name snapshot.Name) P {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.held[name]; s != nil {
		return s.object
	}
	return nil
}

// hasSynced says whether each was read once, or cannot be.
func (p *polledObjects[T, P]) hasSynced() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.held {
		if s.due.IsZero() {
			return false
		}
	}
	return true
}
