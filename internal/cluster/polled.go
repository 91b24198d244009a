package cluster

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"sluice/internal/snapshot"
)

// The rhythm in which objects are read again: those that exist, and those that
// somebody waits for, at first soon and later as rarely as the others. No more than
// atATick of a kind are read each tick, so that thousands cost the API server little
// and are heard of later. The namespaces take turns.
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
	// get reads an object of at least a version, "0" for any that the API server
	// remembers and "" for the newest.
	get   func(ctx context.Context, name snapshot.Name, version string, into P) error
	strip func(P)

	mu   sync.Mutex
	held map[snapshot.Name]*polledObject[P]
	// names are those that are held, sorted. unread is how many of them were not read yet.
	names  []snapshot.Name
	unread int
	// listed are the objects that there are, nil if that is to be found out.
	listed []P
}

// polledObject is an object that something refers to: nil if it does not exist or
// cannot be read.
type polledObject[P any] struct {
	object  P
	version string
	// due is when it is read again; the zero time means at once. wait is how long that
	// was after the read before.
	due  time.Time
	wait time.Duration
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

// keep drops all but names, which are sorted and never change, and gives those that are
// new.
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
	missing = p.inTurn(missing, atATick/2)
	return append(missing, p.inTurn(held, atATick-len(missing))...)
}

// inTurn gives some of the names, the longest due first, but one of each namespace
// before another one of it: however many a namespace names, others wait no longer.
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

// read reads objects and says whether one is another than before.
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

// isOlder reports whether an object is older than the one that is held. Either the
// API server remembers less than another one, or etcd was restored from a backup.
func (p *polledObjects[T, P]) isOlder(name snapshot.Name, o P) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.held[name]
	return s != nil && older(o.GetResourceVersion(), s.version)
}

// readNewest reads an object as etcd has it, whichever version that is.
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

// hold keeps what was read. After an error it is what was there before.
func (p *polledObjects[T, P]) hold(name snapshot.Name, o P, err error) (changed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.held[name]
	if s == nil {
		return false // no longer referenced
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
	if s.due.IsZero() {
		p.unread--
	}
	if changed {
		p.listed = nil
	}
	p.again(s)
	return changed
}

// again sets when the object is read again.
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

// all gives those that exist, in the order of their names.
func (p *polledObjects[T, P]) all() []P {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listed == nil {
		p.listed = make([]P, 0, len(p.names))
		for _, name := range p.names {
			if s := p.held[name].object; s != nil {
				p.listed = append(p.listed, s)
			}
		}
	}
	return p.listed
}

// forbidden gives the names of those that are not known because the permission to read
// them is missing, sorted.
func (p *polledObjects[T, P]) forbidden() []snapshot.Name {
	p.mu.Lock()
	defer p.mu.Unlock()
	var names []snapshot.Name
	for _, name := range p.names {
		if p.held[name].object == nil && p.source.troubles.forbidden(p.what(name)) {
			names = append(names, name)
		}
	}
	return names
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
	return p.unread == 0
}
