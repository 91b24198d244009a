package snapshot

import (
	"iter"
	"maps"
)

// index finds values by name. It never changes. The method with returns a new index that
// shares the unchanged entries, so that the cost of a change depends on its size. A nil
// index is empty.
type index[V any] struct {
	// settled has most entries. Entries in recent override them.
	settled map[Name]V
	recent  map[Name]entry[V]
	length  int
}

// entry is the value of a name; there is false if the name has none.
type entry[V any] struct {
	value V
	there bool
}

// The recent entries are merged into the settled ones if there are more than leastRecent,
// and more than a mostRecent-th of the settled ones.
const (
	mostRecent  = 16
	leastRecent = 64
)

// indexOf returns the index of a map. Callers must not modify the map afterwards.
func indexOf[V any](settled map[Name]V) *index[V] {
	return &index[V]{settled: settled, length: len(settled)}
}

// find returns the value of a name; false if there is none.
func (x *index[V]) find(name Name) (V, bool) {
	var none V
	if x == nil {
		return none, false
	}
	e, ok := x.recent[name]
	switch {
	case !ok:
		value, ok := x.settled[name]
		return value, ok
	case !e.there:
		return none, false
	}
	return e.value, true
}

// get returns the value of a name, the zero value for none.
func (x *index[V]) get(name Name) V {
	value, _ := x.find(name)
	return value
}

func (x *index[V]) len() int {
	if x == nil {
		return 0
	}
	return x.length
}

// all returns the entries, in no order.
func (x *index[V]) all() iter.Seq2[Name, V] {
	return func(yield func(Name, V) bool) {
		if x == nil {
			return
		}
		for name, e := range x.recent {
			if e.there && !yield(name, e.value) {
				return
			}
		}
		for name, value := range x.settled {
			if _, ok := x.recent[name]; !ok && !yield(name, value) {
				return
			}
		}
	}
}

// with returns the index after changes.
func (x *index[V]) with(changes map[Name]entry[V]) *index[V] {
	if len(changes) == 0 && x != nil {
		return x
	}
	if x == nil {
		x = &index[V]{}
	}
	next := &index[V]{settled: x.settled, recent: make(map[Name]entry[V], len(x.recent)+len(changes)), length: x.length}
	maps.Copy(next.recent, x.recent)
	for name, e := range changes {
		if _, was := x.find(name); was {
			next.length--
		}
		if e.there {
			next.length++
		}
		next.recent[name] = e
	}
	if len(next.recent) > max(len(x.settled)/mostRecent, leastRecent) {
		next.settle()
	}
	return next
}

// settle merges the recent entries into a copy of the settled ones.
func (x *index[V]) settle() {
	settled := make(map[Name]V, x.length)
	maps.Insert(settled, x.all())
	x.settled, x.recent = settled, nil
}

// sameIndex reports whether two indexes have the same entries.
func sameIndex[V any](a, b *index[V], same func(a, b V) bool) bool {
	return a == b || a.len() == b.len() && len(differing(a, b, same)) == 0
}
