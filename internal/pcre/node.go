package pcre

// node is a part of a parsed pattern.
type node struct {
	kind nodeKind
	// set are the bytes that an oneByte matches.
	set set
	// parts are the child nodes: one, except in a sequence or an alternation. The part of a
	// backReference is the body of its group, which is also elsewhere in the tree.
	parts []*node
	// number is the number of a capturing group, 0 for other groups.
	number int
	// min and max are the bounds of a repeat; max can be unlimited.
	min, max int
	mode     mode
	negative bool
	lead     lead
}

type nodeKind int

const (
	oneByte         nodeKind = iota
	sequence                 // its parts in order; it can be empty
	alternation              // the first part with which the rest matches
	group                    // (..), and (?:..) around a single byte
	repeat                   // its part, min to max times
	subjectStart             // ^ \A
	finalEnd                 // $ \Z: the end, or before a final newline
	subjectEnd               // \z
	wordBoundary             // \b
	notWordBoundary          // \B
	lookAhead                // (?=..), (?!..) if negative
	// The following kinds are read but not matched, because Go's regexp lacks them.
	lookBehind    // (?<=..), (?<!..)
	atomic        // (?>..)
	branchReset   // (?|..)
	backReference // \1
	other         // an escape or assertion that matches at most one byte
)

type mode int

const (
	greedy mode = iota
	lazy
	possessive
)

// unlimited is the max of a repeat without a maximum.
const unlimited = -1

// contains reports whether is holds for a node or one of its descendants.
func (n *node) contains(is func(*node) bool) bool {
	if is(n) {
		return true
	}
	for _, part := range n.parts {
		if part.contains(is) {
			return true
		}
	}
	return false
}

// count returns the number of nodes.
func (n *node) count() int {
	all := 1
	for _, part := range n.parts {
		all += part.count()
	}
	return all
}

// unwrapped removes the groups around a node.
func (n *node) unwrapped() *node {
	for n.kind == group || n.kind == sequence && len(n.parts) == 1 {
		n = n.parts[0]
	}
	return n
}

// repeatsByte reports whether a node repeats a single byte.
func (n *node) repeatsByte() bool { return n.kind == repeat && n.parts[0].kind == oneByte }

// anchored reports whether every match begins at the start of the subject.
func (n *node) anchored() bool {
	switch n.kind {
	case subjectStart:
		return true
	case sequence:
		return len(n.parts) > 0 && n.parts[0].anchored()
	case alternation:
		for _, branch := range n.parts {
			if !branch.anchored() {
				return false
			}
		}
		return true
	}
	return false
}

// width returns the minimum number of bytes that a node matches, at most veryWide.
func (n *node) width() int {
	total := 0
	switch n.kind {
	case oneByte:
		return 1
	case sequence, group, atomic:
		for _, part := range n.parts {
			total += part.width()
		}
	case alternation:
		total = veryWide
		for _, branch := range n.parts {
			total = min(total, branch.width())
		}
	case repeat:
		total = n.min * n.parts[0].width()
	}
	return min(total, veryWide)
}

const veryWide = 1 << 17

// mayBeRefused reports whether some PCRE2 may reject a node although parse takes it.
func (n *node) mayBeRefused() bool {
	return n.kind == lookBehind && n.parts[0].span() < 0 || n.kind == branchReset || n.kind == other
}

// span returns the number of bytes that a node matches if it is the same for every match,
// otherwise -1.
func (n *node) span() int {
	total := 0
	switch n.kind {
	case oneByte:
		return 1
	case sequence, group, atomic:
		for _, part := range n.parts {
			span := part.span()
			if span < 0 {
				return -1
			}
			total += span
		}
	case alternation:
		for i, branch := range n.parts {
			span := branch.span()
			if span < 0 || i > 0 && span != total {
				return -1
			}
			total = span
		}
	case repeat:
		if total = n.parts[0].span(); total < 0 || n.min != n.max {
			return -1
		}
		total *= n.min
	case subjectStart, subjectEnd, finalEnd, wordBoundary, notWordBoundary:
	default:
		return -1
	}
	return total
}

// size returns an upper bound of the size of PCRE2's compiled form, in bytes, or
// maxSize+1 if that is exceeded.
func (n *node) size() int {
	total := 0
	for _, part := range n.parts {
		if n.kind != backReference {
			total = min(total+part.size(), maxSize+1)
		}
	}
	switch n.kind {
	case oneByte:
		if n.set.size() <= 2 {
			return literalSize
		}
		return classSize
	case alternation:
		total += groupSize + branchSize*len(n.parts)
	case repeat:
		if n.parts[0].kind == oneByte {
			return 2*total + groupSize
		}
		total = n.copies() * (total + groupSize)
	case sequence:
	case group, atomic, branchReset, lookAhead, lookBehind, backReference, other:
		total += groupSize
	default:
		total++
	}
	return min(total, maxSize+1)
}

const (
	// maxSize is below the 65,536 bytes that PCRE2 allows.
	maxSize     = 60_000
	literalSize = 2
	classSize   = 40
	// groupSize is for the begin and end of a group, with everything that PCRE2 may add
	// around it.
	groupSize  = 20
	branchSize = 4
)

// copies returns the number of copies of a repeat's body in the compiled form. PCRE2
// does not copy single bytes, but Go does.
func (n *node) copies() int { return max(n.min, n.max, 1) }
