package pcre

import "slices"

// Comparisons are what several comparisons may cost together.
type Comparisons struct {
	// Left is how many items of automata may still be looked at, some ten million a
	// second. Where none is left, nothing is known.
	Left int
}

// Covers reports whether outer matches every subject that inner matches, so that
// behind outer inner is never the first to match. Both are searches: a match may
// be anywhere in the subject, which may be any bytes. It is not known where that
// hangs on the bounds of words, or would take more than is left.
func (b *Comparisons) Covers(outer, inner *Pattern) (covers, known bool) {
	if b.Left <= 0 {
		return false, false
	}
	_, found, done := b.uncovered(outer, inner)
	switch {
	case !done:
		return false, false
	case found:
		return false, outer.exactly() && inner.exactly()
	}
	return outer.exactly(), outer.exactly()
}

// The limits of a comparison.
const (
	maxPairs = 20_000
	// maxWork counts the items that are looked at.
	maxWork = 2_000_000
)

// uncovered looks for a shortest subject that inner takes and outer does not. done
// is false if it took too long.
func (b *Comparisons) uncovered(outer, inner *Pattern) (subject string, found, done bool) {
	innerAutomaton, outerAutomaton := inner.automaton(), outer.automaton()
	if innerAutomaton == nil || outerAutomaton == nil {
		return "", false, false
	}
	b.Left -= len(innerAutomaton.states) + len(outerAutomaton.states)
	c := &comparison{alphabet: alphabet(innerAutomaton, outerAutomaton), visited: map[pair]bool{}, most: min(maxWork, b.Left)}
	defer func() { b.Left -= c.work }()
	c.inner = newWalker(innerAutomaton, c)
	c.outer = newWalker(outerAutomaton, c)
	return c.search()
}

// exactly reports whether a pattern's automaton takes no more than the pattern does.
func (p *Pattern) exactly() bool { return p.exact && len(p.looks) == 0 }

// pair is a place of inner's automaton and the places in which outer's may be at
// the same time.
type pair struct {
	inner item
	outer *subset
}

// step is a pair with the way to it.
type step struct {
	pair
	from int
	by   byte
}

// comparison walks through both automata at once.
type comparison struct {
	inner, outer *walker
	alphabet     []byte
	visited      map[pair]bool
	steps        []step
	// work is what was looked at, at most a little over most.
	work, most int
}

func (c *comparison) search() (subject string, found, done bool) {
	starting := c.outer.begin()
	for _, at := range c.inner.begin().items {
		c.add(step{pair: pair{at, starting}, from: -1})
	}
	for i := 0; i < len(c.steps); i++ {
		if len(c.steps) > maxPairs || c.work > c.most {
			return "", false, false
		}
		here := c.steps[i].pair
		if c.inner.matched(here.inner) && !here.outer.accepts {
			return c.subject(i), true, true
		}
		for _, by := range c.alphabet {
			next := c.inner.after([]item{here.inner}, by)
			if len(next) == 0 {
				continue
			}
			outer := c.outer.step(here.outer, by)
			for _, at := range next {
				c.add(step{pair: pair{at, outer}, from: i, by: by})
			}
		}
	}
	return "", false, true
}

// add puts a pair in the queue. What outer has matched whatever follows is of no
// interest.
func (c *comparison) add(s step) {
	if s.outer.always || c.visited[s.pair] {
		return
	}
	c.visited[s.pair] = true
	c.steps = append(c.steps, s)
}

// subject gives the bytes that lead to a step.
func (c *comparison) subject(at int) string {
	var bytes []byte
	for ; c.steps[at].from >= 0; at = c.steps[at].from {
		bytes = append(bytes, c.steps[at].by)
	}
	slices.Reverse(bytes)
	return string(bytes)
}
