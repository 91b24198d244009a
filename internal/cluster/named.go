package cluster

import (
	"context"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"

	"sluice/internal/kube"
	"sluice/internal/snapshot"
)

// named watches single objects of one kind by name, each with its own watch, so that
// permission to read these objects is enough. There are few of them.
type named[T any, P snapshot.Object[T]] struct {
	source   *Source
	resource kube.Resource
	kind     string
	list     func() runtime.Object
	strip    func(P)

	mu      sync.Mutex
	watches map[snapshot.Name]*namedWatch[T, P]
}

type namedWatch[T any, P snapshot.Object[T]] struct {
	objects *collection[T, P]
	cancel  context.CancelFunc
}

// watch sets the names of the watched objects. names are sorted.
func (n *named[T, P]) watch(ctx context.Context, names []snapshot.Name) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for name, w := range n.watches {
		if _, stays := slices.BinarySearchFunc(names, name, snapshot.Name.Compare); !stays {
			w.cancel()
			delete(n.watches, name)
			n.source.troubles.forget(n.what(name))
		}
	}
	for _, name := range names {
		if n.watches[name] == nil {
			n.start(ctx, name)
		}
	}
}

func (n *named[T, P]) what(name snapshot.Name) string { return n.kind + " " + name.String() }

func (n *named[T, P]) start(ctx context.Context, name snapshot.Name) {
	ctx, cancel := context.WithCancel(ctx)
	w := &namedWatch[T, P]{objects: &collection[T, P]{strip: n.strip, changed: n.source.signal.touch}, cancel: cancel}
	if n.watches == nil {
		n.watches = map[snapshot.Name]*namedWatch[T, P]{}
	}
	n.watches[name] = w
	lw := n.source.o.Client.ListWatch(n.resource, kube.Selection{Namespace: name.Namespace, Name: name.Name}, n.list)
	n.source.keepUp(ctx, n.what(name), lw, w.objects)
}

// all returns the objects that exist, in the order of their names.
func (n *named[T, P]) all() []P {
	n.mu.Lock()
	defer n.mu.Unlock()
	var found []P
	for _, w := range n.watches {
		found = append(found, w.objects.all()...)
	}
	slices.SortFunc(found, func(a, b P) int { return snapshot.NameOf(a).Compare(snapshot.NameOf(b)) })
	return found
}

// get returns a watched object, or nil.
func (n *named[T, P]) get(name snapshot.Name) P {
	n.mu.Lock()
	w := n.watches[name]
	n.mu.Unlock()
	if w == nil {
		return nil
	}
	return w.objects.get(name)
}

// hasSynced reports whether all objects are known, including missing ones. It does
// not wait for an object that cannot be read.
func (n *named[T, P]) hasSynced() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for name, w := range n.watches {
		if !w.objects.hasSynced() && !n.source.troubles.has(n.what(name)) {
			return false
		}
	}
	return true
}
