package pcre

import "strings"

// parenthesis reads what follows "(".
func (p *parser) parenthesis() (item node, repeatable bool) {
	switch {
	case p.peek(0) == '*':
		p.unsupported("(*")
		return nil, false
	case !p.accept("?"):
		if p.has(noCapture) {
			return p.nonCapturing(), true
		}
		return p.numbered(), true
	}
	for _, call := range []string{"R", "C", "&", "P>", "+", "[", "*", "<*"} {
		if strings.HasPrefix(p.in[p.at:], call) {
			p.unsupported("(?" + call)
			return nil, false
		}
	}
	if c := p.peek(0); digits.has(c) || c == '-' && digits.has(p.peek(1)) {
		p.unsupported("calling a group")
		return nil, false
	}
	if l, ok := p.lookAround(); ok {
		return l, true
	}
	return p.special()
}

// special reads a group that begins with "(?" and is no look-around.
func (p *parser) special() (item node, repeatable bool) {
	switch {
	case p.accept("|"):
		item = p.branchReset()
	case p.accept(">"):
		item = atomic{p.body()}
	case p.accept("P<"), p.accept("<"):
		item = p.namedGroup(">")
	case p.accept("'"):
		item = p.namedGroup("'")
	case p.accept("P="):
		item = p.referToName(p.name(")"))
	case p.accept("("):
		item = p.conditional()
	default:
		return p.optionGroup()
	}
	return item, true
}

// inside reads the branches of a group and its ")". Options that are set within
// end with it.
func (p *parser) inside() []node { return p.within((*parser).alternatives) }

func (p *parser) within(read func(*parser) []node) []node {
	before := p.options
	p.nesting++
	if p.nesting > maxNesting {
		p.fail("more than %d parentheses within each other", maxNesting)
	}
	branches := read(p)
	p.nesting--
	p.options = before
	if !p.accept(")") {
		p.fail("missing )")
	}
	return branches
}

func (p *parser) body() node { return oneOf(p.inside()) }

// nonCapturing reads the body of (?:..).
func (p *parser) nonCapturing() node { return grouped(p.body()) }

func grouped(body node) node {
	if _, ok := body.(single); ok {
		return group{body}
	}
	return body
}

// number gives the next group its number.
func (p *parser) number() int {
	if p.groups >= maxGroups {
		p.fail("more than %d groups", maxGroups)
	}
	p.groups++
	p.total = max(p.total, p.groups)
	return p.groups
}

func (p *parser) numbered() node { return p.capture(p.number()) }

func (p *parser) namedGroup(closer string) node {
	name := p.name(closer)
	number := p.number()
	p.define(name)
	return p.capture(number)
}

func (p *parser) capture(number int) node {
	body := p.body()
	if p.ended[number] == 0 {
		p.ended[number] = len(p.ended) + 1
	}
	return capture{number, body}
}

// branchReset reads (?|..), in which the groups of each branch have the same
// numbers.
func (p *parser) branchReset() node {
	return grouped(oneOf(p.within(func(p *parser) (branches []node) {
		first, last := p.groups, p.groups
		for more := true; more; more = p.accept("|") {
			p.groups = first
			branches = append(branches, p.branch())
			last = max(last, p.groups)
		}
		p.groups = last
		return branches
	})))
}
