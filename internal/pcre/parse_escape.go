package pcre

import (
	"strconv"
	"strings"
)

// assertions are the escapes that take no byte.
var assertions = map[byte]assertionKind{
	'A': subjectStart, 'G': subjectStart, 'Z': finalEnd, 'z': subjectEnd, 'b': wordBoundary, 'B': notWordBoundary,
}

// escape reads what follows a backslash outside of brackets.
func (p *parser) escape() (item node, repeatable bool) {
	if !p.more() {
		p.fail(`\ at the end`)
		return nil, false
	}
	c := p.next()
	if kind, ok := assertions[c]; ok {
		return assertion{kind}, false
	}
	if s, ok := escapedSet(c); ok {
		return single{set: &s}, true
	}
	switch c {
	case 'K':
		return p.keep(), false
	case 'N':
		return p.notNewline(), true
	case 'C':
		return single{set: &anyByte}, true
	case 'R':
		return newline{}, true
	case 'X', 'p', 'P':
		p.unsupported(`\` + string(c))
		return nil, false
	case 'g', 'k':
		return p.reference(c), true
	case '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return p.digits(), true
	}
	return p.literal(p.escapedByte(c)), true
}

func (p *parser) keep() node {
	if p.looking > 0 {
		p.fail(`\K within a look-around`)
	}
	return keep{}
}

// notNewline reads \N, which may be followed by a quantifier but not by a name.
func (p *parser) notNewline() node {
	if p.peek(0) == '{' {
		start := p.at
		if _, ok := p.quantifier(); !ok {
			p.fail(`\N{..}: there are no names of characters`)
			return nil
		}
		p.at = start
	}
	return single{set: &notNewline}
}

// largestNumber is what PCRE2 reads as a number at all after a backslash.
const largestNumber = 214_748_363

// digits reads \1 and the like: a reference where it can be one, otherwise an
// octal number or a literal 8 or 9.
func (p *parser) digits() node {
	p.at--
	text := leading(p.in[p.at:], digits)
	n, err := strconv.Atoi(text)
	if err == nil && n <= largestNumber && (n < 10 || text[0] >= '8' || n <= p.groups) {
		p.at += len(text)
		return p.referTo(n)
	}
	return p.literal(p.octal(p.next()))
}

// leading gives the bytes of a set that a text begins with.
func leading(text string, of set) string {
	for i := range len(text) {
		if !of.has(text[i]) {
			return text[:i]
		}
	}
	return text
}

// octal reads up to two more digits of an octal number; 8 and 9 are literals.
func (p *parser) octal(first byte) byte {
	if first >= '8' {
		return first
	}
	value := int(first - '0')
	for range 2 {
		c := p.peek(0)
		if c < '0' || c > '7' {
			break
		}
		value = value*8 + int(c-'0')
		p.at++
	}
	if value > 0xff {
		p.fail("a code over \\377")
	}
	return byte(value)
}

// simpleEscapes are the letters that stand for one byte.
var simpleEscapes = map[byte]byte{'a': '\a', 'e': 0x1b, 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escapedByte reads an escape that stands for one byte, within brackets or not.
func (p *parser) escapedByte(c byte) byte {
	if value, ok := simpleEscapes[c]; ok {
		return value
	}
	switch {
	case c >= '0' && c <= '9':
		return p.octal(c)
	case c == 'o':
		return p.braced(8, octalDigits)
	case c == 'x':
		return p.hexadecimal()
	case c == 'c':
		return p.control()
	case !wordBytes.has(c) || c == '_':
		return c
	}
	p.at--
	p.fail(`\%c is no escape`, c)
	return 0
}

var (
	hexDigits   = posix["xdigit"]
	octalDigits = ranges("07")
)

// hexadecimal reads \x41 and \x{41}.
func (p *parser) hexadecimal() byte {
	if p.peek(0) == '{' {
		return p.braced(16, hexDigits)
	}
	text := leading(p.in[p.at:min(p.at+2, len(p.in))], hexDigits)
	if text == "" {
		// A NUL before PCRE2 10.45, refused since.
		p.unsupported(`\x without digits`)
		return 0
	}
	p.at += len(text)
	value, _ := strconv.ParseUint(text, 16, 8)
	return byte(value)
}

// braced reads the digits of \x{..} and \o{..}.
func (p *parser) braced(base int, of set) byte {
	if !p.accept("{") {
		p.fail("want {")
		return 0
	}
	text, _, closed := strings.Cut(p.in[p.at:], "}")
	if trimmed := strings.Trim(text, " \t"); closed && trimmed != text {
		p.unsupported("a code with spaces within {}")
		return 0
	}
	if !closed || text == "" || leading(text, of) != text {
		p.fail("want a number of base %d within {}", base)
		return 0
	}
	p.at += len(text) + 1
	value, err := strconv.ParseUint(text, base, 8)
	if err != nil {
		p.fail("a code over 255")
	}
	return byte(value)
}

// control reads \cX.
func (p *parser) control() byte {
	c := p.peek(0)
	if c < ' ' || c > '~' {
		p.fail(`want a printable character after \c`)
		return 0
	}
	p.at++
	if c >= 'a' && c <= 'z' {
		c -= 'a' - 'A'
	}
	return c ^ 0x40
}
