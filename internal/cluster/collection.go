package cluster

import (
	"reflect"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"

	"sluice/internal/snapshot"
)

// collection holds the objects of one kind, as a reflector delivers them: only kept
// objects, without unused fields. An object that arrives again with the same content,
// as after a new list or a change of a dropped field, keeps its pointer and causes no
// change.
type collection[T any, P snapshot.Object[T]] struct {
	// keep reports whether to keep an object; nil keeps all.
	keep func(P) bool
	// strip removes unused fields; it may be called twice for one object.
	strip func(P)
	// aside moves the parts that are stored elsewhere out of an object, before it is
	// compared with the previous one; can be nil.
	aside func(P)
	// gone receives the names of deleted objects; can be nil.
	gone func(snapshot.Name)
	// changed is called after every change.
	changed func()

	mu      sync.Mutex
	objects []P
	entries map[snapshot.Name]entry
	// shared is set if a caller has the list. It is then copied before an element
	// changes. Appending does not affect callers.
	shared bool
	synced bool
	// deleted maps deleted objects to their versions while some objects are read
	// outside the watch; nil otherwise. replaced is the version of the last list that
	// arrived meanwhile, empty if none did.
	deleted  map[snapshot.Name]string
	replaced string
}

// entry is the position and the version of an object.
type entry struct {
	at      int
	version string
}

// Add, Update, Delete, Replace and Resync implement cache.ReflectorStore.
func (c *collection[T, P]) Add(o any) error { return c.Update(o) }

// Update stores a new or changed object.
func (c *collection[T, P]) Update(o any) error {
	c.mu.Lock()
	changed := c.set(o.(P))
	c.mu.Unlock()
	c.tell(changed)
	return nil
}

// Delete removes an object.
func (c *collection[T, P]) Delete(o any) error {
	was := o.(P)
	name := snapshot.NameOf(was)
	c.mu.Lock()
	if c.deleted != nil {
		c.deleted[name] = was.GetResourceVersion()
	}
	changed := c.remove(name)
	c.mu.Unlock()
	c.tell(changed)
	return nil
}

// Replace replaces all objects. The list wins over the versions, because an API
// server may have been restored from a backup.
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
		name := snapshot.NameOf(o)
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

// Resync does nothing, because nothing is lost in between.
func (c *collection[T, P]) Resync() error { return nil }

// Transformer removes unused fields as soon as an object is decoded.
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

// take strips an object and returns its version, which is not compared.
func (c *collection[T, P]) take(o P) (version string) {
	version = o.GetResourceVersion()
	c.strip(o)
	o.SetResourceVersion("")
	if c.aside != nil {
		c.aside(o)
	}
	return version
}

// set stores an object and reports whether that changed anything.
func (c *collection[T, P]) set(o P) bool {
	name := snapshot.NameOf(o)
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

// own copies the list if callers share it.
func (c *collection[T, P]) own() {
	if c.shared {
		c.objects, c.shared = slices.Clone(c.objects), false
	}
}

// remove removes an object and moves the last one to its position.
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
		c.entries[snapshot.NameOf(moved)] = entry{at: e.at, version: c.entries[snapshot.NameOf(moved)].version}
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

// version returns the version of an object, empty if it does not exist.
func (c *collection[T, P]) version(name snapshot.Name) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entries[name].version
}

// all returns the objects. Callers must not change the list; it never changes itself.
func (c *collection[T, P]) all() []P {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shared = true
	return slices.Clip(c.objects)
}

// get returns an object, or nil.
func (c *collection[T, P]) get(name snapshot.Name) P {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries[name]; ok {
		return c.objects[e.at]
	}
	return nil
}

// hasSynced reports whether the first list has arrived.
func (c *collection[T, P]) hasSynced() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.synced
}

// startApart records deletions from now on, until endApart, so that objects that were
// read outside the watch can be merged.
func (c *collection[T, P]) startApart() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deleted, c.replaced = map[snapshot.Name]string{}, ""
}

// merge adds objects that were read outside the watch. They can be older or newer
// than those of the watch.
func (c *collection[T, P]) merge(list []P) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range list {
		if !c.outlived(o) {
			c.set(o)
		}
	}
}

// outlived reports whether an object that was read outside the watch has been deleted
// since: by a deletion, or because a newer list lacks it.
func (c *collection[T, P]) outlived(o P) bool {
	name, version := snapshot.NameOf(o), o.GetResourceVersion()
	if at, gone := c.deleted[name]; gone && !older(at, version) {
		return true
	}
	_, listed := c.entries[name]
	return !listed && c.replaced != "" && !older(c.replaced, version)
}

// endApart ends the recording of startApart.
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
			c.remove(snapshot.NameOf(o))
		}
	}
}

// older reports whether version a of an object comes before b. Versions that are not
// numbers are not compared: the latest arrival counts. Source:
// https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
func older(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order < 0
}

// sameElements reports whether two lists hold the same pointers in any order.
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
