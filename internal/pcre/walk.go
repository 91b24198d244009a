package pcre

import (
	"encoding/binary"
	"slices"
)

// item is a state, and the possible rest of the subject there.
type item struct {
	state int
	rest  rest
}

// rest is the possible rest of a subject.
type rest int

const (
	restAny     rest = iota
	restNewline      // "\n" or nothing
	restNothing
)

// subset is a set of items of an automaton after some bytes.
type subset struct {
	items []item
	// accepts is set if the automaton accepts a subject that ends here, always if it
	// accepts every continuation.
	accepts, always bool
	steps           map[byte]*subset
}

// walker runs an automaton.
type walker struct {
	*automaton
	comparison *comparison
	subsets    map[string]*subset
	seen       map[item]bool
}

func newWalker(a *automaton, c *comparison) *walker {
	return &walker{automaton: a, comparison: c, subsets: map[string]*subset{}}
}

// begin returns the items before the first byte.
func (w *walker) begin() *subset {
	return w.subset(w.closure([]item{{w.start(), restAny}}, guardStart))
}

func (w *walker) matched(at item) bool { return w.states[at.state].matched }

// step returns the items after one more byte.
func (w *walker) step(from *subset, by byte) *subset {
	if to := from.steps[by]; to != nil {
		return to
	}
	to := w.subset(w.after(from.items, by))
	from.steps[by] = to
	return to
}

// after returns the items after one more byte.
func (w *walker) after(from []item, by byte) []item {
	var to []item
	for _, at := range from {
		s := &w.states[at.state]
		if s.set == nil || !s.set.has(by) {
			continue
		}
		switch {
		case at.rest == restAny:
			to = append(to, item{s.to, restAny})
		case at.rest == restNewline && by == '\n':
			to = append(to, item{s.to, restNothing})
		}
	}
	w.comparison.work += len(from)
	return w.closure(to, unguarded)
}

// closure adds the items that are reached without a byte. allowed is guardStart at the
// start of the subject.
func (w *walker) closure(items []item, allowed guard) []item {
	w.seen = map[item]bool{}
	var all []item
	for len(items) > 0 {
		at := items[len(items)-1]
		items = items[:len(items)-1]
		if w.seen[at] {
			continue
		}
		w.seen[at] = true
		all = append(all, at)
		s := &w.states[at.state]
		rest, ok := s.guard.leaves(at.rest, allowed)
		for _, to := range s.free {
			if ok {
				items = append(items, item{to, rest})
			}
		}
	}
	w.comparison.work += len(all)
	return all
}

// leaves returns the possible rest after a guard, and reports whether the guard can hold.
func (g guard) leaves(before rest, allowed guard) (after rest, ok bool) {
	switch g {
	case guardStart:
		return before, allowed == guardStart
	case guardFinalEnd:
		return max(before, restNewline), true
	case guardEnd:
		return restNothing, true
	}
	return before, true
}

// subset returns the subset of some items, the same pointer for the same items.
func (w *walker) subset(items []item) *subset {
	slices.SortFunc(items, func(a, b item) int { return 3*(a.state-b.state) + int(a.rest-b.rest) })
	var key []byte
	s := &subset{items: items, steps: map[byte]*subset{}}
	for _, at := range items {
		key = binary.AppendUvarint(key, uint64(3*at.state+int(at.rest)))
		if w.matched(at) {
			s.accepts = true
			s.always = s.always || at.rest == restAny
		}
	}
	if known := w.subsets[string(key)]; known != nil {
		return known
	}
	w.subsets[string(key)] = s
	return s
}
