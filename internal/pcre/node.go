package pcre

// node is a part of a parsed pattern.
type node interface {
	// width is how many bytes it matches.
	width() width
	// cost is an upper bound of what PCRE2's compiled form of it takes.
	cost() int
	// emit adds its instructions.
	emit(*generator)
	// parts are the nodes within it.
	parts() []node
}

// single matches one byte of a set.
type single struct {
	set *set
	// bracket is set if it was written as [..].
	bracket bool
}

// group is (?:..) around a single byte. It is repeated as groups are.
type group struct{ body node }

// sequence matches its parts one after the other; it may be empty.
type sequence []node

// alternation matches the first of its branches that lets the rest match.
type alternation []node

// capture is a group with a number.
type capture struct {
	number int
	body   node
}

// atomic is (?>..): what it matched is not tried again in another way.
type atomic struct{ body node }

// look is a look-ahead or, if behind is set, a look-behind.
type look struct {
	behind, negative bool
	branches         []node
}

// assertion is a condition on the place that takes no byte.
type assertion struct{ kind assertionKind }

type assertionKind int

const (
	subjectStart    assertionKind = iota // ^ \A \G
	lineStart                            // ^ with (?m)
	finalEnd                             // $ \Z: the end, or before a final newline
	subjectEnd                           // \z
	lineEnd                              // $ with (?m)
	wordBoundary                         // \b
	notWordBoundary                      // \B
)

// newline is \R: a newline of any kind, and "\r\n" as one.
type newline struct{}

// keep is \K: the match begins here.
type keep struct{}

// backReference matches what a group matched: the first of several with one
// name that is set.
type backReference struct {
	groups []int
	fold   bool
	// early is set if it stands before the end of one of its groups.
	early bool
	// name is what groups is found by when the whole pattern is read, at the place
	// behind the reference and ended how many groups had ended there.
	name      string
	at, ended int
}

// repeat matches its body several times.
type repeat struct {
	body     node
	min, max int // max is unlimited or a number
	mode     mode
}

type mode int

const (
	greedy mode = iota
	lazy
	possessive
)

// unlimited is a repeat's max without one.
const unlimited = -1

// conditional is (?(..)yes|no). The condition is a look, or that one of some
// groups is set.
type conditional struct {
	look    *look
	set     *backReference
	yes, no node
}

func (single) parts() []node { return nil }

func (newline) parts() []node { return nil }

func (assertion) parts() []node { return nil }

func (keep) parts() []node { return nil }

func (*backReference) parts() []node { return nil }

func (s sequence) parts() []node { return s }

func (a alternation) parts() []node { return a }

func (g group) parts() []node { return []node{g.body} }

func (c capture) parts() []node { return []node{c.body} }

func (a atomic) parts() []node { return []node{a.body} }

func (l look) parts() []node { return l.branches }

func (r repeat) parts() []node { return []node{r.body} }

func (c conditional) parts() []node {
	if c.look != nil {
		return []node{*c.look, c.yes, c.no}
	}
	return []node{c.yes, c.no}
}

// contains reports whether something is true of a node or of one within it.
func contains(n node, is func(node) bool) bool {
	if is(n) {
		return true
	}
	for _, part := range n.parts() {
		if contains(part, is) {
			return true
		}
	}
	return false
}

func isCapture(n node) bool {
	_, ok := n.(capture)
	return ok
}
