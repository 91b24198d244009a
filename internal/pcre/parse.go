package pcre

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The limits of PCRE2. maxLength is twice the limit of a token in nginx.conf.
const (
	maxNesting = 250
	maxCount   = 65_535
	maxLength  = 1 << 13
)

// flags are the options that (?imsU) changes.
type flags uint

const (
	caseless  flags = 1 << iota // i
	multiline                   // m
	dotAll                      // s
	ungreedy                    // U
)

var letters = map[rune]flags{'i': caseless, 'm': multiline, 's': dotAll, 'U': ungreedy}

// parser makes a tree of tokens. It keeps the first error, which ends all loops.
type parser struct {
	tokens []token
	spare  []node
	err    error
	flags  flags
	// nesting counts the open groups.
	nesting int
	// names are those of the capturing groups, "" for none. Group n is at n-1.
	names []string
	// ended are the bodies of the capturing groups whose ")" was read.
	ended map[int]*node
	// reference is the highest referenced number. resets is set if groups can share
	// numbers.
	reference int
	resets    bool
}

// parse returns the tree of a pattern. The error is a *SyntaxError or wraps
// ErrUnsupported.
func parse(pattern string, f flags) (tree *node, names []string, err error) {
	if len(pattern) > maxLength {
		return nil, nil, fmt.Errorf("a pattern of %d bytes is %w", len(pattern), ErrUnsupported)
	}
	p := &parser{flags: f, tokens: slices.AppendSeq(make([]token, 0, len(pattern)), tokens(pattern)), ended: map[int]*node{}}
	tree = p.alternatives()
	if p.more() {
		p.fail("unmatched )")
	}
	if p.reference > len(p.names) && !p.resets {
		p.fail("a reference to a group that does not exist")
	}
	if p.err != nil {
		return nil, nil, p.err
	}
	tree.findLeads()
	return tree, p.names, nil
}

func (p *parser) more() bool { return p.err == nil && len(p.tokens) > 0 }

func (p *parser) peek() tokenKind { return p.tokens[0].kind }

func (p *parser) take() token {
	t := p.tokens[0]
	p.tokens = p.tokens[1:]
	return t
}

func (p *parser) has(f flags) bool { return p.flags&f != 0 }

// fail records that PCRE2 rejects the pattern.
func (p *parser) fail(format string, values ...any) {
	p.stop(&SyntaxError{fmt.Sprintf(format, values...)})
}

// unsupported records a part of the pattern that this package cannot read.
func (p *parser) unsupported(what string) {
	p.stop(fmt.Errorf("%s is %w", what, ErrUnsupported))
}

func (p *parser) stop(err error) {
	if p.err == nil {
		p.err = err
	}
}

// alternatives reads branches up to a ")" or the end.
func (p *parser) alternatives() *node {
	branches := []*node{p.branch()}
	for p.more() && p.peek() == barToken {
		p.take()
		branches = append(branches, p.branch())
	}
	if len(branches) == 1 {
		return branches[0]
	}
	return &node{kind: alternation, parts: branches}
}

// branch reads items up to a "|", a ")" or the end.
func (p *parser) branch() *node {
	all := &node{kind: sequence}
	for p.more() && p.peek() != barToken && p.peek() != closeToken {
		repeatable := p.item(p.take(), all)
		p.skipComments()
		if !p.more() || p.peek() != quantifierToken {
			continue
		}
		if !repeatable {
			p.fail("a quantifier without anything to repeat")
			break
		}
		last := &all.parts[len(all.parts)-1]
		*last = p.repeated(*last, p.take().text)
	}
	if len(all.parts) == 1 {
		return all.parts[0]
	}
	return all
}

// skipComments skips comments and empty \Q\E, and reports whether there were any.
func (p *parser) skipComments() (any bool) {
	for p.more() && (p.peek() == commentToken || p.tokens[0].text == `\Q\E`) {
		p.take()
		any = true
	}
	return any
}

// item adds the nodes of one token to a sequence, without its quantifier: several for
// quoted text, none for options and comments.
func (p *parser) item(t token, all *node) (repeatable bool) {
	add := func(n *node) { all.parts = append(all.parts, n) }
	switch t.kind {
	case escapeToken:
		if t.refusal != nil {
			p.unsupported(t.text)
		}
		n, repeatable := p.escape(t.text)
		add(n)
		return repeatable
	case caretToken:
		add(p.line(subjectStart))
	case dollarToken:
		add(p.line(finalEnd))
	case commentToken:
	case optionsToken:
		p.flags = p.changed(t.text)
	case quantifierToken:
		p.fail("a quantifier without anything to repeat")
	case lostToken:
		if errors.Is(t.refusal, errNoBracket) {
			p.fail("%v", errNoBracket)
		}
		p.unsupported(fmt.Sprintf("%.10q", t.text))
	case quotedToken:
		for _, c := range []byte(t.text[2 : len(t.text)-2]) {
			add(p.literal(c))
		}
		return len(t.text) > len(`\Q\E`)
	default:
		add(p.repeatable(t))
		return true
	}
	return false
}

// repeatable returns the node of a token that can have a quantifier.
func (p *parser) repeatable(t token) *node {
	switch t.kind {
	case classToken:
		return p.class(t.text)
	case dotToken:
		return p.dot()
	case openToken:
		return p.group(t)
	}
	return p.literal(t.text[0])
}

func (p *parser) literal(c byte) *node { return p.oneByte(literal(c, p.has(caseless))) }

// oneByte makes a node. Most nodes are of this kind, so it allocates several at once.
func (p *parser) oneByte(s set) *node {
	if len(p.spare) == 0 {
		p.spare = make([]node, min(len(p.tokens)+1, 64))
	}
	n := &p.spare[0]
	n.set, p.spare = s, p.spare[1:]
	return n
}

func (p *parser) dot() *node {
	if p.has(dotAll) {
		return p.oneByte(anyByte)
	}
	return p.oneByte(notNewline)
}

func (p *parser) line(kind nodeKind) *node {
	if p.has(multiline) {
		kind = other
	}
	return &node{kind: kind}
}

// group reads a group after its opening token, up to its ")".
func (p *parser) group(t token) *node {
	if t.refusal != nil {
		p.unsupported(fmt.Sprintf("%.10q", t.text))
	}
	before := p.flags
	n := &node{kind: group}
	switch t.text {
	case "(?=", "(?!":
		n.kind, n.negative = lookAhead, t.text == "(?!"
	case "(?<=", "(?<!":
		n.kind = lookBehind
	case "(?>":
		n.kind = atomic
	case "(?|":
		n.kind, p.resets = branchReset, true
	case "(":
		n.number = p.number("")
	default:
		if t.name != "" {
			n.number = p.number(t.name)
		} else {
			p.flags = p.changed(t.text)
		}
	}
	if p.nesting++; p.nesting > maxNesting {
		p.unsupported("groups that are nested so deeply")
	}
	n.parts = []*node{p.alternatives()}
	if !p.more() {
		p.fail("missing )")
		return n
	}
	p.take()
	p.nesting--
	p.flags = before
	p.ended[n.number] = n.parts[0]
	if n.kind == group && n.number == 0 && n.parts[0].kind != oneByte {
		return n.parts[0] // (?:..) matters only if it is repeated
	}
	return n
}

func (p *parser) number(name string) int {
	switch {
	case name == "":
	case name[0] <= '9':
		p.fail("a name of a group that begins with a digit")
	case slices.Contains(p.names, name) && p.resets:
		p.unsupported("a name that two groups have")
	case slices.Contains(p.names, name):
		p.fail("two groups have the name %s", name)
	}
	p.names = append(p.names, name)
	return len(p.names)
}

// changed returns the flags after (?i-s) and the like.
func (p *parser) changed(text string) flags {
	result, unset := p.flags, false
	for _, letter := range text {
		switch {
		case letter == '-':
			unset = true
		case unset:
			result &^= letters[letter]
		default:
			result |= letters[letter]
		}
	}
	return result
}

// repeated returns a repeat of an item.
func (p *parser) repeated(item *node, text string) *node {
	bare := strings.TrimRight(text[1:], "?+")
	n := &node{kind: repeat, parts: []*node{item}}
	switch {
	case text[0] == '{':
		p.count(n, strings.Trim(bare, "}"))
	case text[0] == '*':
		n.min, n.max = 0, unlimited
	case text[0] == '+':
		n.min, n.max = 1, unlimited
	default:
		n.min, n.max = 0, 1
	}
	switch suffix := text[len(text)-1]; {
	case len(text) > 1 && suffix == '+':
		n.mode = possessive
	case (len(text) > 1 && suffix == '?') != p.has(ungreedy):
		n.mode = lazy
	}
	if (item.kind == lookAhead || item.kind == lookBehind) && n.max == unlimited {
		n.max = n.min + 1 // as in PCRE2
	}
	if commented := p.skipComments(); p.more() && p.peek() == quantifierToken {
		if commented {
			p.unsupported("a quantifier behind a comment")
		}
		p.fail("a quantifier without anything to repeat")
	}
	if n.min == 1 && n.max == 1 && n.mode != possessive {
		return item
	}
	return n
}

// count reads the numbers of {2,3}.
func (p *parser) count(n *node, text string) {
	least, most, several := strings.Cut(text, ",")
	if least == "" || strings.ContainsAny(text, " \t") {
		p.unsupported("a quantifier with spaces or without its first number")
		return
	}
	var err1, err2 error
	n.min, err1 = strconv.Atoi(least)
	n.max = n.min
	if several && most == "" {
		n.max = unlimited
	} else if several {
		n.max, err2 = strconv.Atoi(most)
	}
	switch {
	case err1 != nil || err2 != nil || n.min > maxCount || n.max > maxCount:
		p.fail("a number over %d in {}", maxCount)
		n.min, n.max = 0, 0
	case n.max != unlimited && n.max < n.min:
		p.fail("numbers out of order in {}")
	}
}
