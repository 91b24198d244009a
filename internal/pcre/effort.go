package pcre

import "math/bits"

// effort is how much work a part of a pattern may be, as powers of two: in how many
// ways it can match at one place, all of which are tried if what follows fails, and
// how many steps and bytes that takes.
type effort struct{ ways, work int }

const (
	// longBits stands for as many repetitions as a URI has bytes.
	longBits = 13
	// endless is more than anybody waits for.
	endless = 64
	// mostBits is what one long repetition and a few choices come to.
	mostBits = longBits + 4
)

// Hard reports whether PCRE may take many steps for a pattern: it repeats something
// of any length in more than one way, or its steps cannot be told.
func Hard(pattern string) bool {
	p := &parser{in: pattern, ended: map[int]int{}}
	tree, err := p.parse()
	if err != nil {
		return true
	}
	all, ok := tree.(sequence)
	if !ok {
		all = sequence{tree}
	}
	for len(all) > 0 && certain(all[len(all)-1]) {
		all = all[:len(all)-1] // the match ends here
	}
	e := effortOf(all)
	if !anchored(tree) {
		e.work += longBits
	}
	return e.work > mostBits
}

// certain tells what matches at the end of a pattern whatever is there.
func certain(n node) bool {
	r, ok := unwrapped(n).(repeat)
	_, one := r.body.(single)
	return ok && one && r.min == 0
}

// unwrapped takes the groups off that hold nothing else.
func unwrapped(n node) node {
	for {
		switch inner := n.(type) {
		case capture:
			n = inner.body
		case group:
			n = inner.body
		case sequence:
			if len(inner) != 1 {
				return n
			}
			n = inner[0]
		default:
			return n
		}
	}
}

func effortOf(n node) effort {
	switch n := n.(type) {
	case sequence:
		return n.effort()
	case repeat:
		return n.effort()
	case *backReference:
		return effort{0, longBits}
	case atomic, look:
		return effort{0, widest(n.parts()).work}
	case single, assertion, newline, keep:
		return effort{}
	}
	return widest(n.parts())
}

// widest is one of several branches, each of which is a way.
func widest(branches []node) (e effort) {
	for _, branch := range branches {
		of := effortOf(branch)
		e.ways, e.work = max(e.ways, of.ways), max(e.work, of.work)
	}
	choice := bits.Len(uint(max(len(branches)-1, 0)))
	return effort{min(e.ways+choice, endless), min(e.work+choice, endless)}
}

// effort multiplies the ways of what comes before with the work of what follows.
func (s sequence) effort() (e effort) {
	for i, part := range s {
		of := effortOf(part)
		e.work = max(e.work, min(e.ways+of.work, endless))
		if i+1 == len(s) || !ends(part, s[i+1]) {
			e.ways = min(e.ways+of.ways, endless)
		}
	}
	return effort{e.ways, max(e.ways, e.work)}
}

// ends reports whether what is repeated cannot go on where the next part begins, so
// that there is one way only.
func ends(n, next node) bool {
	r, ok := unwrapped(n).(repeat)
	body, one := r.body.(single)
	if !ok || !one {
		return false
	}
	next = unwrapped(next)
	if after, ok := next.(repeat); ok && after.min > 0 {
		next = after.body
	}
	first, ok := next.(single)
	return ok && disjoint(body.set, first.set)
}

func (r repeat) effort() effort {
	times, choice := longBits, longBits
	if r.max != unlimited {
		times, choice = bits.Len(uint(max(r.max-1, 0))), bits.Len(uint(r.max-r.min))
	}
	if r.mode == possessive {
		choice = 0
	}
	body := effortOf(r.body)
	within, before := body.ways*max(r.max, 0), body.ways*max(r.max-1, 0)
	if r.max == unlimited && body.ways > 0 {
		within, before = endless, endless
	}
	return effort{min(within+choice, endless), min(before+times+body.work, endless)}
}
