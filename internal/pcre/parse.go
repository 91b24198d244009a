package pcre

import (
	"fmt"
	"strings"
)

// The limits of PCRE2.
const (
	maxNesting = 250
	maxGroups  = 65_535
	maxCount   = 65_535
)

// maxLength bounds the work on a pattern of comments, which cost nothing else.
const maxLength = 1 << 16

// options are what (?imsxnUJ) changes.
type options uint

const (
	caseless       options = 1 << iota // i
	multiline                          // m
	dotAll                             // s
	extended                           // x
	extendedMore                       // xx
	noCapture                          // n
	ungreedy                           // U
	duplicateNames                     // J
)

// parser reads a pattern from left to right, as PCRE2's parse_regex does. The
// first error is kept; at is then at the end, so that all loops end.
// Source: src/pcre2_compile.c of PCRE2 10.42.
type parser struct {
	in  string
	at  int
	err error
	// options are those in force here.
	options options
	// quoted is set within \Q..\E.
	quoted bool
	// nesting counts the open parentheses, looking those of look-arounds.
	nesting, looking int
	// groups is the number of the last group; it goes back in (?|..). total is the
	// highest.
	groups, total int
	names         []groupName
	// ended says for each group whose ")" was read how many were then.
	ended      map[int]int
	references []*backReference
	// behind counts the branches of look-behinds.
	behind int
}

type groupName struct {
	name  string
	group int
}

// parse reads the whole pattern.
func (p *parser) parse() (node, error) {
	if len(p.in) > maxLength {
		return nil, fmt.Errorf("a pattern of %d bytes is %w", len(p.in), ErrUnsupported)
	}
	p.startVerbs()
	tree := p.alternatives()
	if p.more() {
		p.fail("unmatched )")
	}
	p.resolve()
	if p.err != nil {
		return nil, p.err
	}
	return oneOf(tree), nil
}

// startVerbs passes over those of the verbs at the start that change neither
// what matches nor where.
func (p *parser) startVerbs() {
	for {
		verb, _, _ := strings.Cut(p.in[p.at:], ")")
		switch verb {
		case "(*NO_JIT", "(*NO_START_OPT", "(*NO_AUTO_POSSESS", "(*NO_DOTSTAR_ANCHOR", "(*LF", "(*BSR_UNICODE":
			p.at += len(verb) + 1
		default:
			return
		}
	}
}

func (p *parser) more() bool { return p.at < len(p.in) }

// next takes one byte. There has to be one.
func (p *parser) next() byte {
	p.at++
	return p.in[p.at-1]
}

// peek gives a byte without taking it, 0 behind the end.
func (p *parser) peek(ahead int) byte {
	if p.at+ahead < len(p.in) {
		return p.in[p.at+ahead]
	}
	return 0
}

// accept takes a text if it comes next.
func (p *parser) accept(text string) bool {
	if !strings.HasPrefix(p.in[p.at:], text) {
		return false
	}
	p.at += len(text)
	return true
}

func (p *parser) has(o options) bool { return p.options&o != 0 }

// fail says that PCRE2 refuses the pattern.
func (p *parser) fail(format string, values ...any) {
	p.stop(&SyntaxError{Offset: p.at, Reason: fmt.Sprintf(format, values...)})
}

// unsupported says what is in the pattern that we do not do.
func (p *parser) unsupported(what string) {
	p.stop(fmt.Errorf("%s (byte %d) is %w", what, p.at, ErrUnsupported))
}

func (p *parser) stop(err error) {
	if p.err == nil {
		p.err = err
	}
	p.at = len(p.in)
	p.quoted = false
}

// oneOf makes a node of branches.
func oneOf(branches []node) node {
	if len(branches) == 1 {
		return branches[0]
	}
	return alternation(branches)
}

// alternatives reads branches up to a ")" or the end.
func (p *parser) alternatives() []node {
	branches := []node{p.branch()}
	for p.accept("|") {
		branches = append(branches, p.branch())
	}
	return branches
}

// branch reads items up to a "|", a ")" or the end.
func (p *parser) branch() node {
	var items sequence
	for {
		p.skip()
		if !p.more() || !p.quoted && (p.peek(0) == '|' || p.peek(0) == ')') {
			break
		}
		item, repeatable := p.item()
		if item = p.quantified(item, repeatable); item != nil {
			items = append(items, item)
		}
	}
	if len(items) == 1 {
		return items[0]
	}
	return items
}

// skip passes over what is nothing: \Q and \E, comments, and white space with
// (?x).
func (p *parser) skip() {
	for p.more() {
		switch {
		case p.quoted:
			if !p.accept(`\E`) {
				return
			}
			p.quoted = false
		case p.accept(`\Q`):
			p.quoted = true
		case p.accept(`\E`):
		case strings.HasPrefix(p.in[p.at:], "(?#"):
			p.comment()
		case !p.skipExtended():
			return
		}
	}
}

func (p *parser) comment() {
	length := strings.IndexByte(p.in[p.at:], ')')
	if length < 0 {
		p.fail("missing ) after (?#")
		return
	}
	p.at += length + 1
}

// skipExtended passes over one white space or comment of (?x).
func (p *parser) skipExtended() bool {
	c := p.peek(0)
	switch {
	case !p.has(extended):
		return false
	case spaces.has(c) || c == 0x85:
		p.at++
		return true
	case c == '#':
		comment, _, _ := strings.Cut(p.in[p.at:], "\n")
		p.at = min(p.at+len(comment)+1, len(p.in))
		return true
	}
	return false
}

// item reads one item without its quantifier; nil is one that only changes
// options.
func (p *parser) item() (item node, repeatable bool) {
	if p.quoted {
		return p.literal(p.next()), true
	}
	start := p.at
	if _, ok := p.quantifier(); ok {
		p.at = start
		p.fail("a quantifier without anything to repeat")
	}
	if p.err != nil {
		return nil, false
	}
	switch c := p.next(); c {
	case '\\':
		return p.escape()
	case '[':
		return p.bracket(), true
	case '(':
		return p.parenthesis()
	case '^':
		return p.eitherWay(lineStart, subjectStart), false
	case '$':
		return p.eitherWay(lineEnd, finalEnd), false
	case '.':
		return p.dot(), true
	default:
		return p.literal(c), true
	}
}

func (p *parser) dot() node {
	if p.has(dotAll) {
		return single{set: &anyByte}
	}
	return single{set: &notNewline}
}

func (p *parser) eitherWay(multi, single assertionKind) node {
	if p.has(multiline) {
		return assertion{multi}
	}
	return assertion{single}
}

func (p *parser) literal(c byte) node { return single{set: literal(c, p.has(caseless))} }
