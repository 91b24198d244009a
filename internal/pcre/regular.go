package pcre

import (
	"fmt"
	"strings"
)

const (
	// maxUnrolled limits the instructions of Go's compiled pattern, which copies the body
	// of a repeat as often as it can match.
	maxUnrolled = 5_000
	// maxCopies limits the copies of one instruction.
	maxCopies = 1_000
)

// irregular names a part of a tree that Go's regexp lacks or treats differently from
// PCRE2, except for known look-aheads; "" if there is none.
func (n *node) irregular(known []place) string {
	for _, look := range known {
		if look.node == n {
			return ""
		}
	}
	switch {
	case n.kind >= lookAhead:
		return "a look-around, a reference, an atomic group or a rare escape"
	case n.kind == repeat && n.mode == possessive:
		return "a possessive quantifier"
	case n.kind == repeat && n.max == 0:
		return "a part that is repeated zero times"
	case n.kind == repeat && n.max != 1 && n.parts[0].width() == 0:
		return "a repeated group that may match nothing"
	}
	for _, part := range n.parts {
		if what := part.irregular(known); what != "" {
			return what
		}
	}
	return ""
}

// unrolled returns the number of Go's instructions for a node, at most a little more
// than maxUnrolled, and the maximum number of copies of one of them.
func (n *node) unrolled() (size, copies int) {
	size, copies = 1, 1
	for _, part := range n.parts {
		within, times := part.unrolled()
		size, copies = min(size+within, maxUnrolled+1), max(copies, times)
	}
	if n.kind == repeat {
		size, copies = min(size*n.copies(), maxUnrolled+1), min(copies*n.copies(), maxCopies+1)
	}
	return size, copies
}

// huge reports whether Go or PCRE2 could reject a pattern because of its size.
func (n *node) huge() bool {
	size, copies := n.unrolled()
	return size > maxUnrolled || copies > maxCopies || n.size() > maxSize
}

// tame makes possessive quantifiers greedy where both match alike, because the next part
// cannot begin with a repeated byte.
func (n *node) tame(next follower) {
	behind := make([]follower, len(n.parts))
	switch n.kind {
	case sequence:
		behind = n.followers(next)
	case group, alternation:
		for i := range behind {
			behind[i] = next
		}
	}
	for i, part := range n.parts {
		part.tame(behind[i])
	}
	if n.kind == repeat && n.mode == possessive && n.repeatsByte() &&
		(n.min == n.max || next.kind == success || next.kind == byteOf && next.set.disjoint(n.parts[0].set)) {
		n.mode = greedy
	}
}

// place is a look-ahead that is always tried at the same byte of the subject, so it can
// be tried first, separately.
type place struct {
	node *node
	at   int
}

// nowhere means that the position is not fixed.
const nowhere = -1

// places finds the look-aheads with a fixed position in an anchored tree, and returns
// the end of the tree.
func (n *node) places(at int, found *[]place) (end int) {
	switch n.kind {
	case oneByte:
		at++
	case group:
		return n.parts[0].places(at, found)
	case sequence:
		for _, part := range n.parts {
			if at != nowhere {
				at = part.places(at, found)
			}
		}
	case alternation:
		return n.branchPlaces(at, found)
	case lookAhead:
		body := n.parts[0]
		if body.irregular(nil) == "" && !body.contains(func(n *node) bool { return n.number > 0 }) {
			*found = append(*found, place{n, at})
		}
	case repeat:
		if !n.repeatsByte() || n.min != n.max {
			return nowhere
		}
		at += n.min
	case subjectStart, subjectEnd, finalEnd, wordBoundary, notWordBoundary:
	default:
		return nowhere
	}
	if at > maxCopies {
		return nowhere
	}
	return at
}

func (n *node) branchPlaces(at int, found *[]place) (end int) {
	end = n.parts[0].places(at, found)
	for _, branch := range n.parts[1:] {
		if branch.places(at, found) != end {
			end = nowhere
		}
	}
	return end
}

// otherNewline replaces each newline of a subject except a final one. With at most one
// "\n", Go's (?m:$) holds where PCRE2's $ does.
const otherNewline = 0x100

// never matches nothing; anything matches one byte.
const (
	never    = `[^\x00-\x{10FFFF}]`
	anything = `[\x00-\x{100}]`
)

// writer writes a tree in Go's syntax. Each byte becomes the rune of that number. A part
// that Go lacks becomes a pattern that matches more.
type writer struct {
	strings.Builder
	// fails are the look-aheads that fail; all others count as holding.
	fails map[*node]bool
	// fold makes letters match in either case.
	fold bool
}

// regular writes a tree.
func (n *node) regular(fails map[*node]bool) string {
	w := writer{fails: fails}
	w.node(n)
	return w.String()
}

var regularAssertions = map[nodeKind]string{
	subjectStart: `\A`, finalEnd: `(?m:$)`, subjectEnd: `\z`, wordBoundary: `\b`, notWordBoundary: `\B`,
	other: anything + "{0,2}",
}

func (w *writer) node(n *node) {
	switch n.kind {
	case oneByte:
		w.set(n.set)
	case sequence:
		for _, part := range n.parts {
			w.node(part)
		}
	case lookAhead:
		if w.fails[n] {
			w.WriteString(never)
		}
	case backReference:
		w.reference(n)
	case lookBehind:
	case group, alternation, branchReset, atomic, repeat:
		w.group(n)
	default:
		w.WriteString(regularAssertions[n.kind])
	}
}

// reference writes the possible text of a group, in either case.
func (w *writer) reference(n *node) {
	if len(n.parts) == 0 {
		w.WriteString(anything + "*")
		return
	}
	before := w.fold
	w.fold = true
	w.group(n)
	w.fold = before
}

func (w *writer) group(n *node) {
	for i, part := range n.parts {
		switch {
		case i > 0:
			w.WriteString("|")
		case n.number > 0:
			w.WriteString("(")
		default:
			w.WriteString("(?:")
		}
		w.node(part)
	}
	w.WriteString(")")
	if n.kind == repeat {
		w.WriteString(n.quantifier())
	}
}

func (n *node) quantifier() string {
	text := fmt.Sprintf("{%d,%d}", n.min, n.max)
	switch {
	case n.max == unlimited && n.min < 2:
		text = []string{"*", "+"}[n.min]
	case n.max == unlimited:
		text = fmt.Sprintf("{%d,}", n.min)
	case n.min == 0 && n.max == 1:
		text = "?"
	}
	if n.mode == lazy {
		return text + "?"
	}
	return text
}

// set writes a set as a class of ranges.
func (w *writer) set(s set) {
	if w.fold {
		s = s.folded()
	}
	if s.size() == 0 {
		w.WriteString(never)
		return
	}
	w.WriteByte('[')
	for c := 0; c < 256; c++ {
		if !s.has(byte(c)) {
			continue
		}
		first := c
		for c < 255 && s.has(byte(c+1)) {
			c++
		}
		if w.byte(first); c > first {
			w.WriteByte('-')
			w.byte(c)
		}
	}
	if s.has('\n') {
		w.WriteRune(otherNewline)
	}
	w.WriteByte(']')
}

// byte writes the rune of a byte's number within brackets.
func (w *writer) byte(c int) {
	if c < 0x80 && c > ' ' && !wordBytes.has(byte(c)) {
		w.WriteByte('\\')
	}
	w.WriteRune(rune(c))
}
