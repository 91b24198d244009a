package cluster

import (
	"reflect"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"

	"sluice/internal/snapshot"
)

// object is a pointer to a Kubernetes object type.
type object[T any] interface {
	*T
	metav1.Object
}

// collection holds the objects of one kind as a reflector brings them: those
// that are kept, without what nobody reads. An object that comes again with
// the same content, as after a list that is read anew or a change of what was
// dropped, stays the same pointer and is no change.
type collection[T any, P object[T]] struct {
	// keep says whether an object is kept; nil keeps all.
	keep func(P) bool
	// strip drops what nobody reads; it may be called twice for one object.
	strip func(P)
	// aside takes what is kept elsewhere out of an object, before it is compared
	// with the one before; nil where there is no such thing.
	aside func(P)
	// gone is told the names of objects that went; may be nil.
	gone func(snapshot.Name)
	// changed is called after every change.
	changed func()

	mu      sync.Mutex
	objects []P
	entries map[snapshot.Name]entry
	// shared is set if somebody has the list: it is copied before anything in it
	// changes. To append to it changes nothing that others see.
	shared bool
	synced bool
	// deleted are the versions in which objects were deleted while part of the
	// objects is read apart; nil otherwise. replaced is the version of the last
	// list that came meanwhile, empty if none did.
	deleted  map[snapshot.Name]string
	replaced string
}

// entry says where an object is and which version of it that is.
type entry struct {
	at      int
	version string
}

// Add, Update, Delete, Replace and Resync are cache.ReflectorStore.
func (c *collection[T, P]) Add(o any) error { return c.Update(o) }

// Update takes an object that came or changed.
func (c *collection[T, P]) Update(o any) error {
	c.mu.Lock()
	changed := c.set(o.(P))
	c.mu.Unlock()
	c.tell(changed)
	return nil
}

// Delete takes an object that went.
func (c *collection[T, P]) Delete(o any) error {
	was := o.(P)
	name := nameOf(was)
	c.mu.Lock()
	if c.deleted != nil {
		c.deleted[name] = was.GetResourceVersion()
	}
	changed := c.remove(name)
	c.mu.Unlock()
	c.tell(changed)
	return nil
}

// Replace takes all objects there are. The list is the truth, whatever the
// versions say: an API server may have been set back.
func (c *collection[T, P]) Replace(list []any, version string) error {
	c.mu.Lock()
	c.replaced = version
	was := c.objects
	known := c.entries
	c.objects, c.entries = make([]P, 0, len(list)), make(map[snapshot.Name]entry, len(list))
	changed := !c.synced
	for _, element := range list {
		o := element.(P)
		if c.keep != nil && !c.keep(o) {
			continue
		}
		version := c.take(o)
		name := nameOf(o)
		if e, ok := known[name]; ok && reflect.DeepEqual(was[e.at], o) {
			o = was[e.at]
		}
		c.entries[name] = entry{at: len(c.objects), version: version}
		c.objects = append(c.objects, o)
	}
	for name := range known {
		if _, stays := c.entries[name]; !stays {
			c.leave(name)
		}
	}
	changed = changed || !sameElements(was, c.objects)
	c.synced = true
	c.mu.Unlock()
	c.tell(changed)
	return nil
}

// Resync does nothing: nothing is forgotten in between.
func (c *collection[T, P]) Resync() error { return nil }

// Transformer drops what nobody reads as soon as an object is decoded.
func (c *collection[T, P]) Transformer() cache.TransformFunc {
	return func(o any) (any, error) {
		if p, ok := o.(P); ok {
			c.strip(p)
		}
		return o, nil
	}
}

func (c *collection[T, P]) tell(changed bool) {
	if changed {
		c.changed()
	}
}

// take strips an object and gives its version, which is not part of what is
// compared.
func (c *collection[T, P]) take(o P) (version string) {
	version = o.GetResourceVersion()
	c.strip(o)
	o.SetResourceVersion("")
	if c.aside != nil {
		c.aside(o)
	}
	return version
}

// set puts an object in its place. It reports whether that changed anything.
func (c *collection[T, P]) set(o P) bool {
	name := nameOf(o)
	if c.keep != nil && !c.keep(o) {
		return c.remove(name)
	}
	version := c.take(o)
	e, ok := c.entries[name]
	switch {
	case !ok:
		if c.entries == nil {
			c.entries = map[snapshot.Name]entry{}
		}
		c.entries[name] = entry{at: len(c.objects), version: version}
		c.objects = append(c.objects, o)
		return true
	case older(version, e.version):
		return false
	}
	c.entries[name] = entry{at: e.at, version: version}
	if reflect.DeepEqual(c.objects[e.at], o) {
		return false
	}
	c.own()
	c.objects[e.at] = o
	return true
}

// own makes the list the collection's own.
func (c *collection[T, P]) own() {
	if c.shared {
		c.objects, c.shared = slices.Clone(c.objects), false
	}
}

// remove takes an object out; the last one takes its place.
func (c *collection[T, P]) remove(name snapshot.Name) bool {
	e, ok := c.entries[name]
	if !ok {
		return false
	}
	c.own()
	last := len(c.objects) - 1
	if e.at != last {
		moved := c.objects[last]
		c.objects[e.at] = moved
		c.entries[nameOf(moved)] = entry{at: e.at, version: c.entries[nameOf(moved)].version}
	}
	c.objects[last] = nil
	c.objects = c.objects[:last]
	delete(c.entries, name)
	c.leave(name)
	return true
}

func (c *collection[T, P]) leave(name snapshot.Name) {
	if c.gone != nil {
		c.gone(name)
	}
}

// version gives the version of an object, empty if it is not there.
func (c *collection[T, P]) version(name snapshot.Name) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entries[name].version
}

// all gives the objects. The list must not be changed; it never changes itself.
func (c *collection[T, P]) all() []P {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shared = true
	return slices.Clip(c.objects)
}

// get gives an object, or nil.
func (c *collection[T, P]) get(name snapshot.Name) P {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries[name]; ok {
		return c.objects[e.at]
	}
	return nil
}

// hasSynced says whether the first list has come.
func (c *collection[T, P]) hasSynced() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.synced
}

// startApart notes deletions from now on, until what is read apart is merged.
func (c *collection[T, P]) startApart() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deleted, c.replaced = map[snapshot.Name]string{}, ""
}

// merge takes objects that were read apart from the watch, which may be behind or
// ahead of them.
func (c *collection[T, P]) merge(list []P) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range list {
		if !c.outlived(o) {
			c.set(o)
		}
	}
}

// outlived says whether an object that was read apart has gone since: it was
// deleted, or a newer list does not have it.
func (c *collection[T, P]) outlived(o P) bool {
	name, version := nameOf(o), o.GetResourceVersion()
	if at, gone := c.deleted[name]; gone && !older(at, version) {
		return true
	}
	_, listed := c.entries[name]
	return !listed && c.replaced != "" && !older(c.replaced, version)
}

// endApart ends what startApart began.
func (c *collection[T, P]) endApart() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deleted = nil
}

// prune drops the objects that are no longer kept.
func (c *collection[T, P]) prune() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range slices.Clone(c.objects) {
		if !c.keep(o) {
			c.remove(nameOf(o))
		}
	}
}

func nameOf(o metav1.Object) snapshot.Name {
	return snapshot.Name{Namespace: o.GetNamespace(), Name: o.GetName()}
}

// older says whether version a of an object comes before b. Versions that are no
// numbers are not compared: what came last counts.
// Source: https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
func older(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order < 0
}

// sameElements says whether two lists hold the same pointers, in any order.
func sameElements[P comparable](a, b []P) bool {
	if len(a) != len(b) {
		return false
	}
	held := make(map[P]bool, len(a))
	for _, o := range a {
		held[o] = true
	}
	return !slices.ContainsFunc(b, func(o P) bool { return !held[o] })
}
