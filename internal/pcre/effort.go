package pcre

import "math"

// effort is an upper bound of PCRE2's work for a part of a pattern, at most enormous.
type effort struct {
	// ways is the number of matches at one place; PCRE2 tries all if the rest fails.
	// steps is the number of steps for these, frames the number of open choices.
	ways, steps, frames float64
}

const enormous = 1e15

// text is a subject, of which only the length may be known.
type text struct {
	length int
	// bytes is empty if only the length is known.
	bytes string
}

// longest is a text of the maximum length of a URI.
var longest = text{length: 8192}

// among returns the maximum number of bytes of the text that are in a set.
func (t text) among(s set) float64 {
	if t.bytes == "" {
		return float64(t.length)
	}
	count := 0
	for i := range len(t.bytes) {
		if s.has(t.bytes[i]) {
			count++
		}
	}
	return float64(count)
}

// Hard reports whether PCRE may need many steps for a pattern: it has several long
// repetitions, or its steps are not known.
func Hard(pattern string) bool { return takesOver(pattern, manySteps) }

// Slow reports whether PCRE may need some thousand steps for a pattern: it has a long
// repetition that it may try anew, or its steps are not known.
func Slow(pattern string) bool { return takesOver(pattern, someSteps) }

const (
	// manySteps allows one long repetition and a few choices.
	manySteps = 1 << 18
	// someSteps allows none that is tried at each byte of a long text.
	someSteps = 1 << 12
)

func takesOver(pattern string, steps float64) bool {
	tree, _, err := parse(pattern, 0)
	return err != nil || longest.whole(tree).steps > steps
}

// bounded reports whether PCRE2 certainly stays within its limits. Go is then quick too,
// because it does no more than try all ways.
func (p *Pattern) bounded(e effort, steps int) bool {
	return 2*e.steps+float64(p.length) <= float64(steps) && e.frames <= maxFrames
}

// whole returns the effort of a whole pattern. Package render makes each pattern begin
// at the start, after the shortest possible prefix.
func (t text) whole(tree *node) effort {
	e := t.effort(tree, follower{kind: success})
	if !tree.anchored() {
		e.steps = (e.steps + 1) * float64(t.length+1)
		e.frames++
	}
	return e
}

func (t text) effort(n *node, next follower) effort {
	switch n.kind {
	case sequence:
		return t.sequence(n, next)
	case alternation, branchReset:
		return t.branches(n.parts, next)
	case group:
		e := t.effort(n.parts[0], next)
		return effort{e.ways, e.steps + 1, e.frames + 2}
	case atomic, lookAhead, lookBehind:
		e := t.effort(n.parts[0], follower{})
		return effort{1, e.steps + 1, e.frames + 2}
	case repeat:
		if n.repeatsByte() {
			return t.span(n, next)
		}
		return t.loop(n, next)
	case backReference:
		return effort{1, float64(t.length), 1}
	}
	return effort{ways: 1}
}

// sequence multiplies the ways of the parts before with the steps of the next one.
func (t text) sequence(n *node, next follower) effort {
	all := effort{ways: 1}
	for i, behind := range n.followers(next) {
		e := t.effort(n.parts[i], behind)
		all.steps = min(all.steps+all.ways*e.steps, enormous)
		all.ways = min(all.ways*e.ways, enormous)
		all.frames = min(all.frames+e.frames, enormous)
	}
	return all
}

// branches adds up the branches. If they begin with different bytes, only one matches.
func (t text) branches(parts []*node, next follower) effort {
	var all effort
	seen, apart, most := set{}, true, 0.0
	for _, branch := range parts {
		e := t.effort(branch, next)
		first := follower{}.before(branch)
		apart = apart && first.kind == byteOf && first.set.disjoint(seen)
		seen.addSet(first.set)
		most = max(most, e.ways)
		all = effort{min(all.ways+e.ways, enormous), min(all.steps+1+e.steps, enormous), max(all.frames, e.frames)}
	}
	if apart {
		all.ways = most
	}
	all.frames += 2
	return all
}

// span is the repetition of a single byte.
func (t text) span(n *node, next follower) effort {
	bytes := n.parts[0].set
	most := t.among(bytes)
	if n.max != unlimited {
		most = min(most, float64(n.max))
	}
	choices := max(most-float64(n.min)+1, 1)
	switch {
	case next.kind == success:
		return effort{1, 1, 1}
	case n.mode == possessive, next.kind == byteOf && next.set.disjoint(bytes):
		return effort{1, choices, 1} // it cannot go on where the next part begins
	case next.kind == byteOf:
		return effort{min(choices, t.among(next.set)+1), choices, 1}
	}
	return effort{choices, choices, 1}
}

// loop is the repetition of anything else.
func (t text) loop(n *node, next follower) effort {
	body, exit := n.parts[0], next
	times := float64(n.max)
	if n.max == unlimited {
		times = max(float64(t.length/max(body.width(), 1)), float64(n.min), 1)
	}
	again := follower{}.before(body)
	switch {
	case n.max == 1, next.kind == success && n.min <= 1:
	case again.kind == byteOf && next.kind == byteOf:
		next.set.addSet(again.set)
	default:
		next = follower{}
	}
	e := t.effort(body, next)
	before := min(math.Pow(e.ways, max(times-1, 0)), enormous)
	all := effort{
		ways:   min(before*e.ways*(times-float64(n.min)+1), enormous),
		steps:  min(before*times*(e.steps+1), enormous),
		frames: min(times*(e.frames+2), enormous),
	}
	apart := e.ways == 1 && again.kind == byteOf && exit.kind == byteOf && again.set.disjoint(exit.set)
	if apart || n.mode == possessive {
		all.ways = 1
	}
	return all
}
