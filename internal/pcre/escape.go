package pcre

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// assertions are the escapes that take no byte.
var assertions = map[byte]nodeKind{'A': subjectStart, 'Z': finalEnd, 'z': subjectEnd, 'b': wordBoundary, 'B': notWordBoundary, 'G': other, 'K': other}

// simpleEscapes are the letters that stand for one byte.
var simpleEscapes = map[byte]byte{'a': '\a', 'e': 0x1b, 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape reads an escape outside brackets.
func (p *parser) escape(text string) (item *node, repeatable bool) {
	c := text[1]
	if kind, ok := assertions[c]; ok {
		return &node{kind: kind}, false
	}
	switch c {
	case 'h', 'H', 'v', 'V', 'N', 'R', 'C':
		// PCRE2 has bugs with some of these next to each other.
		return &node{kind: other}, true
	case '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if len(text) > 2 {
			p.unsupported(text) // it can be a group or a character
		}
		return p.backReference(int(c - '0')), true
	}
	if s, ok := escapedSet(c); ok {
		return &node{set: s}, true
	}
	return p.literal(p.escapedByte(text)), true
}

// largestCopy limits the work for a pattern that refers to a large group many times.
const largestCopy = 50

// backReference returns a reference. Its part is the body of the group, if that was read
// and is simple.
func (p *parser) backReference(number int) *node {
	p.reference = max(p.reference, number)
	n := &node{kind: backReference}
	body := p.ended[number]
	if body != nil && !p.resets && body.count() <= largestCopy && !body.contains(func(n *node) bool { return n.kind == backReference }) {
		n.parts = []*node{body}
	}
	return n
}

// escapedByte reads an escape that stands for one byte, within brackets or not.
func (p *parser) escapedByte(text string) byte {
	c := text[1]
	if value, ok := simpleEscapes[c]; ok {
		return value
	}
	switch {
	case c == 'x' && len(text) > 2:
		code, err := strconv.ParseUint(strings.Trim(text[2:], "{}"), 16, 8)
		if err != nil {
			p.fail("a code over 255")
		}
		return byte(code)
	case c >= '0' && c <= '9', strings.IndexByte("xopPXgk", c) >= 0:
		p.unsupported(text)
	case wordBytes.has(c) && c != '_':
		p.fail("%s is no escape", text)
	}
	return c
}

// bracket is the state while a class in brackets is read.
type bracket struct {
	set set
	// last is the byte that can begin a range; ranging is set after its "-".
	last    byte
	hasLast bool
	ranging bool
}

// outside matches classes that PCRE2 allows only within brackets.
var outside = regexp.MustCompile(`^\[(?::\^?[a-z]*:|\.[a-z]*\.|=[a-z]*=)\]$`)

// class reads the text of a class.
func (p *parser) class(text string) *node {
	if outside.MatchString(text) {
		p.fail("%s outside of brackets", text)
	} else if len(text) > 3 && strings.IndexByte(":.=", text[1]) >= 0 && text[len(text)-2] == text[1] {
		p.unsupported(fmt.Sprintf("%.10q", text))
	}
	var b bracket
	start := classStart(text)
	negative := strings.HasPrefix(start, "[^")
	if strings.HasSuffix(start, "]") {
		p.add(&b, ']')
	}
	for rest := text[len(start) : len(text)-1]; rest != ""; {
		length, _ := member(rest)
		p.member(&b, rest[:length], rest[length:])
		rest = rest[length:]
	}
	if b.ranging {
		b.set.add('-')
	}
	if p.has(caseless) {
		b.set = b.set.folded()
	}
	if negative {
		b.set = b.set.inverse()
	}
	return &node{set: b.set}
}

// member adds one member to a class.
func (p *parser) member(b *bracket, text, rest string) {
	switch {
	case len(text) == 1 && text == "-" && b.hasLast:
		b.ranging, b.hasLast = true, false
	case len(text) == 1:
		p.add(b, text[0])
	case text[0] == '[':
		p.addSet(b, p.posix(text), rest)
	case text[1] == 'b':
		p.add(b, '\b')
	case strings.IndexByte("ABCGKNRZz", text[1]) >= 0:
		p.fail("%s within brackets", text)
	default:
		if s, ok := escapedSet(text[1]); ok {
			p.addSet(b, s, rest)
			return
		}
		p.add(b, p.escapedByte(text))
	}
}

// add adds a byte to a class, or ends a range with it.
func (p *parser) add(b *bracket, c byte) {
	switch {
	case !b.ranging:
		b.set.add(c)
		b.last, b.hasLast = c, true
	case c < b.last:
		p.fail("a range whose end is before its begin")
	default:
		b.set.addRange(b.last, c)
		b.ranging = false
	}
}

// addSet adds several bytes to a class. They cannot end a range.
func (p *parser) addSet(b *bracket, s set, rest string) {
	if b.ranging || len(rest) > 1 && rest[0] == '-' {
		p.fail("a range with a class for its end")
	}
	b.set.addSet(s)
	b.hasLast = false
}

// posix reads [:alpha:] and [:^alpha:].
func (p *parser) posix(text string) set {
	name, negative := strings.CutPrefix(text[2:len(text)-2], "^")
	s, ok := posixSets[name]
	if !ok {
		p.fail("no class %s", text[1:len(text)-1])
	}
	if p.has(caseless) {
		s = s.folded() // so [:^lower:] excludes all letters
	}
	if negative {
		return s.inverse()
	}
	return s
}
