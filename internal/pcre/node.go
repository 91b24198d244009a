package pcre

// node is a part of a parsed pattern.
type node struct {
	kind nodeKind
	// set is what an oneByte matches.
	set set
	// parts are the nodes within it: one, but for a sequence and an alternation. That
	// of a backReference is the body of its group, and is elsewhere in the tree, too.
	parts []*node
	// number is that of a group that captures, 0 for another.
	number int
	// min and max are how often a repeat matches; max may be unlimited.
	min, max int
	mode     mode
	negative bool
	lead     lead
}

type nodeKind int

const (
	oneByte         nodeKind = iota
	sequence                 // its parts one after the other; it may be empty
	alternation              // the first of its parts that lets the rest match
	group                    // (..), and (?:..) around a single byte
	repeat                   // its part several times
	subjectStart             // ^ \A
	finalEnd                 // $ \Z: the end, or before a final newline
	subjectEnd               // \z
	wordBoundary             // \b
	notWordBoundary          // \B
	lookAhead                // (?=..), (?!..) if negative
	// What follows is read, and not matched: Go's regexp has nothing like it.
	lookBehind    // (?<=..), (?<!..)
	atomic        // (?>..)
	branchReset   // (?|..)
	backReference // \1
	other         // an escape or an assertion that stands for at most one byte
)

type mode int

const (
	greedy mode = iota
	lazy
	possessive
)

// unlimited is a repeat's max without one.
const unlimited = -1

// contains reports whether something is true of a node or of one within it.
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

// count is how many nodes there are.
func (n *node) count() int {
	all := 1
	for _, part := range n.parts {
		all += part.count()
	}
	return all
}

// unwrapped takes the groups off that hold nothing else.
func (n *node) unwrapped() *node {
	for n.kind == group || n.kind == sequence && len(n.parts) == 1 {
		n = n.parts[0]
	}
	return n
}

// repeatsByte reports whether a node repeats a single byte.
func (n *node) repeatsByte() bool { return n.kind == repeat && n.parts[0].kind == oneByte }

// anchored reports whether each way begins with ^.
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

// width is the least number of bytes that a node matches, at most veryWide.
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

// size is an upper bound of what PCRE2's compiled form takes, in bytes, where it
// is no more than maxSize.
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
	// groupSize is for a group's begin and end, and for all that PCRE2 may wrap
	// around it.
	groupSize  = 20
	branchSize = 4
)

// copies is how often PCRE2 writes down the body of a repeat that is no single
// byte, and Go that of any.
func (n *node) copies() int { return max(n.min, n.max, 1) }
