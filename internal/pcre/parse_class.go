package pcre

import "strings"

// class is a class in brackets while it is read.
type class struct {
	set set
	// last is the byte that a "-" may make a range of; open is set behind that "-".
	last      byte
	hasLast   bool
	rangeOpen bool
}

// bracket reads what follows "[".
func (p *parser) bracket() node {
	switch rest := p.in[p.at:]; {
	case strings.HasPrefix(rest, "[:<:]]") || strings.HasPrefix(rest, "[:>:]]"):
		p.unsupported("[[:<:]]")
	case posixLength(rest) > 0:
		p.fail("[%s outside of brackets", rest[:1])
	}
	var c class
	negative := p.classStart()
	for first := true; ; first = false {
		if !p.more() {
			p.fail("missing ]")
			return nil
		}
		if !first && !p.quoted && p.accept("]") {
			break
		}
		p.member(&c)
	}
	if c.rangeOpen {
		c.set.add('-')
	}
	if p.has(caseless) {
		c.set = c.set.folded()
	}
	if negative {
		c.set = c.set.inverse()
	}
	return single{&c.set, true}
}

// classStart reads what may come before the first member and is none.
func (p *parser) classStart() (negative bool) {
	for p.more() {
		switch {
		case p.accept(`\E`), p.accept(`\Q\E`):
		case p.has(extendedMore) && (p.accept(" ") || p.accept("\t")):
		case !negative && p.accept("^"):
			negative = true
		default:
			return negative
		}
	}
	return negative
}

// member reads one member of a class, or what is nothing there.
func (p *parser) member(c *class) {
	if p.quoted {
		if p.quoted = !p.accept(`\E`); p.quoted {
			p.add(c, p.next())
		}
		return
	}
	if p.has(extendedMore) && (p.accept(" ") || p.accept("\t")) {
		return
	}
	if length := posixMember(p.in[p.at:]); length > 0 {
		p.posixClass(c, length)
		return
	}
	switch b := p.next(); {
	case b == '-' && c.hasLast:
		c.rangeOpen, c.hasLast = true, false
	case b == '\\':
		p.classEscape(c)
	default:
		p.add(c, b)
	}
}

// add puts a byte in a class, or ends a range with it.
func (p *parser) add(c *class, b byte) {
	if !c.rangeOpen {
		c.set.add(b)
		c.last, c.hasLast = b, true
		return
	}
	if b < c.last {
		p.fail("a range whose end is before its begin")
		return
	}
	c.set.addRange(c.last, b)
	c.rangeOpen = false
}

// addSet puts several bytes in a class. They can be no end of a range.
func (p *parser) addSet(c *class, s set) {
	hyphen := p.peek(0) == '-' && p.at+1 < len(p.in)
	switch after := p.peek(1); {
	case hyphen && (after == '\\' && (p.peek(2) == 'E' || p.peek(2) == 'Q') || p.has(extendedMore) && (after == ' ' || after == '\t')):
		p.unsupported("a hyphen between a class and what is nothing")
	case c.rangeOpen || hyphen && after != ']':
		p.fail("a range with a class for its end")
	}
	c.set.addSet(s)
	c.hasLast = false
}

// classEscape reads what follows a backslash within brackets.
func (p *parser) classEscape(c *class) {
	if !p.more() {
		p.fail(`\ at the end`)
		return
	}
	b := p.next()
	if s, ok := escapedSet(b); ok {
		p.addSet(c, s)
		return
	}
	switch b {
	case 'Q':
		p.quoted = true
	case 'E':
	case 'b':
		p.add(c, '\b')
	case 'g':
		p.add(c, 'g')
	case 'p', 'P', 'k': // \k is a k since 10.45
		p.unsupported(`\` + string(b) + " within brackets")
	case 'A', 'B', 'C', 'G', 'K', 'N', 'R', 'X', 'Z', 'z':
		p.fail(`\%c within brackets`, b)
	default:
		p.add(c, p.escapedByte(b))
	}
}

// posixMember gives the length of a member such as [:alpha:], 0 if there is none.
func posixMember(rest string) int {
	if !strings.HasPrefix(rest, "[") {
		return 0
	}
	if length := posixLength(rest[1:]); length > 0 {
		return length + 1
	}
	return 0
}

// posixLength gives the length of ":alpha:]", ".a.]" or "=a=]", 0 if it is none
// of them. What is between may be anything but a "]" or the begin of another.
// Source: check_posix_syntax.
func posixLength(rest string) int {
	if rest == "" || strings.IndexByte(":.=", rest[0]) < 0 {
		return 0
	}
	for i := 1; i+1 < len(rest); i++ {
		switch {
		case rest[i] == '\\' && (rest[i+1] == ']' || rest[i+1] == '\\'):
			i++
		case rest[i] == '[' && rest[i+1] == rest[0], rest[i] == ']':
			return 0
		case rest[i] == rest[0] && rest[i+1] == ']':
			return i + 2
		}
	}
	return 0
}

// posixClass reads [:alpha:] and [:^alpha:].
func (p *parser) posixClass(c *class, length int) {
	text := p.in[p.at+1 : p.at+length-1]
	if text[0] != ':' {
		p.fail("[%c..%c] is no class", text[0], text[0])
		return
	}
	name, negative := strings.CutPrefix(text[1:len(text)-1], "^")
	s, ok := posix[name]
	if !ok {
		p.fail("no class [:%s:]", name)
		return
	}
	if p.has(caseless) {
		// [:^lower:] is what is no letter, not what has an upper case.
		s = s.folded()
	}
	if negative {
		s = s.inverse()
	}
	p.at += length
	p.addSet(c, s)
}
