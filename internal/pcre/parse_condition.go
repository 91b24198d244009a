package pcre

import "strings"

// conditional reads what follows "(?(".
func (p *parser) conditional() node {
	c := conditional{yes: sequence{}, no: sequence{}}
	p.nesting++
	if p.peek(0) == '?' {
		c.look = p.conditionLook()
	} else {
		c.set = p.conditionSet()
	}
	p.nesting--
	if p.err != nil {
		return nil
	}
	branches := p.inside()
	switch len(branches) {
	case 1:
		c.yes = branches[0]
	case 2:
		c.yes, c.no = branches[0], branches[1]
	default:
		p.fail("more than two branches of a condition")
	}
	return c
}

// conditionLook reads a look-around that is a condition. It cannot be repeated.
func (p *parser) conditionLook() *look {
	p.at++
	if p.peek(0) == 'C' {
		p.unsupported("a callout")
	}
	l, ok := p.lookAround()
	if !ok {
		p.fail("want a look-around or a group as a condition")
	}
	p.quantified(l, false)
	return &l
}

// conditionSet reads the number or the name of a group, and the ")" after it.
func (p *parser) conditionSet() *backReference {
	rest := p.in[p.at:]
	switch name := leading(rest, wordBytes); {
	case rest == "":
		p.fail("missing )")
	case rest[0] == '*' || strings.HasPrefix(rest, "VERSION") || name == "DEFINE":
		p.unsupported("such a condition")
	case rest[0] == 'R' && leading(name[1:], digits) == name[1:]:
		p.unsupported("a condition on recursion")
	}
	if p.err != nil {
		return nil
	}
	switch {
	case p.accept("<"):
		return p.closed(p.referToName(p.name(">")))
	case p.accept("'"):
		return p.closed(p.referToName(p.name("'")))
	}
	if group, ok := p.groupNumber(); ok {
		return p.closed(p.referTo(group))
	}
	return p.referToName(p.name(")"))
}

// closed reads the ")" of a condition.
func (p *parser) closed(r *backReference) *backReference {
	if !p.accept(")") {
		p.fail("missing ) after a condition")
	}
	return r
}
