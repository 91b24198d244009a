package pcre

import "slices"

// Comparisons limits the cost of several comparisons together.
type Comparisons struct {
	// Left is the number of items of automata that may still be read, about ten million
	// a second. With none left, no result is known.
	Left int
}

// Covers reports whether outer matches every subject that inner matches, so that inner
// is never the first match after outer. A match can be anywhere in the subject. The
// result is not known if a pattern uses word boundaries, or if too little is left.
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
	// maxWork limits the items that are read.
	maxWork = 2_000_000
)

// Common returns a shortest subject that both patterns match. It is not found if there is
// none, and then done is set; without done the search was too long, or a pattern uses word
// boundaries. sure is set if the subject certainly matches both.
func (b *Comparisons) Common(one, other *Pattern) (subject string, found, sure, done bool) {
	if b.Left <= 0 {
		return "", false, false, false
	}
	subject, found, done = b.search(one, other, true)
	return subject, found, found && one.exactly() && other.exactly(), done
}

// uncovered searches for a shortest subject that inner accepts and outer does not. done
// is false if the search was too long.
func (b *Comparisons) uncovered(outer, inner *Pattern) (subject string, found, done bool) {
	return b.search(inner, outer, false)
}

// search searches for a shortest subject that inner accepts, and that outer accepts or does
// not accept.
func (b *Comparisons) search(inner, outer *Pattern, accepts bool) (subject string, found, done bool) {
	innerAutomaton, outerAutomaton := inner.automaton(), outer.automaton()
	if innerAutomaton == nil || outerAutomaton == nil {
		return "", false, false
	}
	b.Left -= len(innerAutomaton.states) + len(outerAutomaton.states)
	c := &comparison{alphabet: alphabet(innerAutomaton, outerAutomaton), visited: map[pair]bool{}, most: min(maxWork, b.Left), accepts: accepts}
	defer func() { b.Left -= c.work }()
	c.inner = newWalker(innerAutomaton, c)
	c.outer = newWalker(outerAutomaton, c)
	return c.search()
}

// exactly reports whether the automaton accepts no more than the pattern matches.
func (p *Pattern) exactly() bool { return p.exact && len(p.looks) == 0 }

// pair is an item of inner's automaton, and the items of outer's automaton after the
// same bytes.
type pair struct {
	inner item
	outer *subset
}

// step is a pair with the step and the byte before it.
type step struct {
	pair
	from int
	by   byte
}

// comparison runs both automata in parallel.
type comparison struct {
	inner, outer *walker
	alphabet     []byte
	visited      map[pair]bool
	steps        []step
	// accepts is set if outer must accept the subject, too.
	accepts bool
	// work counts the items that were read, at most a little over most.
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
		if c.inner.matched(here.inner) && here.outer.accepts == c.accepts {
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

// add adds a pair to the queue, unless no continuation can be what is searched for.
func (c *comparison) add(s step) {
	hopeless := s.outer.always
	if c.accepts {
		hopeless = len(s.outer.items) == 0
	}
	if hopeless || c.visited[s.pair] {
		return
	}
	c.visited[s.pair] = true
	c.steps = append(c.steps, s)
}

// subject returns the bytes that lead to a step.
func (c *comparison) subject(at int) string {
	var bytes []byte
	for ; c.steps[at].from >= 0; at = c.steps[at].from {
		bytes = append(bytes, c.steps[at].by)
	}
	slices.Reverse(bytes)
	return string(bytes)
}
