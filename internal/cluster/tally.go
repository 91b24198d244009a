package cluster

import (
	"slices"

	"sluice/internal/snapshot"
)

// tally counts names, and keeps a sorted list of those with a count. The cost of a change
// is that of the changed names and of a copy of the list. The zero value is empty.
type tally struct {
	counts map[snapshot.Name]int
	// names is the last list. It never changes; the next list is a new one.
	names []snapshot.Name
	// touched are the names that were counted since the last list.
	touched map[snapshot.Name]bool
}

// add increases the count of a name, or decreases it if by is negative.
func (t *tally) add(name snapshot.Name, by int) {
	if t.counts == nil {
		t.counts, t.touched = map[snapshot.Name]int{}, map[snapshot.Name]bool{}
	}
	t.touched[name] = true
	if t.counts[name] += by; t.counts[name] == 0 {
		delete(t.counts, name)
	}
}

// list returns the names with a count, sorted. It returns the last list if the names are
// the same. Callers must not modify it.
func (t *tally) list() []snapshot.Name {
	var others []snapshot.Name // new and removed
	for name := range t.touched {
		_, listed := slices.BinarySearchFunc(t.names, name, snapshot.Name.Compare)
		if listed != (t.counts[name] > 0) {
			others = append(others, name)
		}
	}
	clear(t.touched)
	if len(others) == 0 {
		return t.names
	}
	slices.SortFunc(others, snapshot.Name.Compare)
	rest, next := t.names, make([]snapshot.Name, 0, len(t.names)+len(others))
	for _, name := range others {
		at, listed := slices.BinarySearchFunc(rest, name, snapshot.Name.Compare)
		next, rest = append(next, rest[:at]...), rest[at:]
		if listed {
			rest = rest[1:]
		} else {
			next = append(next, name)
		}
	}
	t.names = append(next, rest...)
	return t.names
}

// sameNames reports whether two lists have the same names. For the same list it costs
// nothing.
func sameNames(a, b []snapshot.Name) bool {
	if len(a) != len(b) || len(a) == 0 || &a[0] == &b[0] {
		return len(a) == len(b)
	}
	return slices.Equal(a, b)
}

// others returns the names that are in only one of two sorted lists.
func others(before, now []snapshot.Name) (gone, came []snapshot.Name) {
	for len(before) > 0 || len(now) > 0 {
		switch {
		case len(before) > 0 && len(now) > 0 && before[0] == now[0]:
			before, now = before[1:], now[1:]
		case len(now) == 0 || len(before) > 0 && before[0].Compare(now[0]) < 0:
			gone, before = append(gone, before[0]), before[1:]
		default:
			came, now = append(came, now[0]), now[1:]
		}
	}
	return gone, came
}
