package snapshot

import (
	"iter"
	"maps"
)

// index finds things by name. It never changes: with gives another index, which
// shares with this one all that stays, so that a change costs what changed and not a
// copy of everything. A nil index is empty.
type index[V any] struct {
	// settled has most entries. Those of recent go before it.
	settled map[Name]V
	recent  map[Name]entry[V]
	length  int
}

// entry is the value of a name, or that it has none.
type entry[V any] struct {
	value V
	there bool
}

// mostRecent is the share of the settled entries that recent ones may be, and
// leastRecent is how many they may be in any case. Beyond, they are settled.
const (
	mostRecent  = 16
	leastRecent = 64
)

// indexOf gives the index of a map, which must not be changed any more.
func indexOf[V any](settled map[Name]V) *index[V] {
	return &index[V]{settled: settled, length: len(settled)}
}

// find gives the value of a name; false if there is none.
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

// get gives the value of a name, the zero value for none.
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

// all gives the entries, in no order.
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

// with gives the index after changes.
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

// settle puts the recent entries among the others, in a copy.
func (x *index[V]) settle() {
	settled := make(map[Name]V, x.length)
	maps.Insert(settled, x.all())
	x.settled, x.recent = settled, nil
}

// sameIndex reports whether two indexes have the same entries.
func sameIndex[V any](a, b *index[V], same func(a, b V) bool) bool {
	return a == b || a.len() == b.len() && len(differing(a, b, same)) == 0
}
