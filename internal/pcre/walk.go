package pcre

import (
	"encoding/binary"
	"slices"
)

// item is a state, and what the subject may still hold there.
type item struct {
	state int
	rest  rest
}

// rest is what may follow.
type rest int

const (
	restAny     rest = iota
	restNewline      // "\n" or nothing
	restNothing
)

// subset is the set of items in which an automaton may be.
type subset struct {
	items []item
	// accepts is set if the subject may end here, always if whatever follows is
	// accepted.
	accepts, always bool
	steps           map[byte]*subset
}

// walker reads subjects with an automaton.
type walker struct {
	*automaton
	comparison *comparison
	subsets    map[string]*subset
	seen       map[item]bool
}

func newWalker(a *automaton, c *comparison) *walker {
	return &walker{automaton: a, comparison: c, subsets: map[string]*subset{}}
}

// begin is where the automaton is before the first byte.
func (w *walker) begin() *subset {
	return w.subset(w.closure([]item{{w.start(), restAny}}, guardStart))
}

func (w *walker) matched(at item) bool { return w.states[at.state].matched }

// step is where the automaton may be one byte on.
func (w *walker) step(from *subset, by byte) *subset {
	if to := from.steps[by]; to != nil {
		return to
	}
	to := w.subset(w.after(from.items, by))
	from.steps[by] = to
	return to
}

// after gives the items one byte on.
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

// closure adds the items that can be reached without a byte. allowed is
// guardStart at the start of the subject.
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

// leaves gives what may follow where a guard is passed, and whether it can be.
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

// subset gives the subset of some items, always the same for the same ones.
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
