package pcre

import "strings"

// The longest name of a group: PCRE2 up to 10.43 has the former, later ones the
// latter.
const (
	maxName      = 32
	maxLaterName = 128
)

// reference reads what follows \g and \k.
func (p *parser) reference(letter byte) node {
	opener := p.peek(0)
	switch {
	case letter == 'g' && (opener == '<' || opener == '\''):
		p.unsupported("calling a group")
		return nil
	case letter == 'g' && opener != '{':
		group, ok := p.groupNumber()
		if !ok {
			p.fail(`want a group after \g`)
		}
		return p.referTo(group)
	case letter == 'g' && strings.IndexByte("+-0123456789", p.peek(1)) >= 0 && p.peek(1) != 0:
		p.at++
		group, ok := p.groupNumber()
		if !ok || !p.accept("}") {
			p.bracesLater(`want the number of a group within \g{}`)
		}
		return p.referTo(group)
	}
	closer := map[byte]string{'{': "}", '<': ">", '\'': "'"}[opener]
	if closer == "" {
		p.fail(`want the name of a group after \%c`, letter)
		return nil
	}
	p.at++
	return p.referToName(p.name(closer))
}

// bracesLater fails for what is within braces: since PCRE2 10.43 there may be
// spaces.
func (p *parser) bracesLater(reason string) {
	inside, _, _ := strings.Cut(p.in[p.at:], "}")
	if strings.ContainsAny(inside, " \t") {
		p.unsupported("spaces within {}")
		return
	}
	p.fail("%s", reason)
}

// groupNumber reads the number of a group; with a sign it counts from here. ok
// is false if there is none.
func (p *parser) groupNumber() (group int, ok bool) {
	sign := p.peek(0)
	if sign == '+' || sign == '-' {
		p.at++
	}
	text := leading(p.in[p.at:], digits)
	if text == "" {
		return 0, false
	}
	p.at += len(text)
	n, fits := count(text)
	switch {
	case !fits:
		n = maxGroups + 1
	case n == 0 && (sign == '+' || sign == '-'):
		p.fail("a number of a group that is +0 or -0")
	case sign == '+':
		n += p.groups
	case sign == '-':
		n = p.groups + 1 - n
	}
	return n, true
}

// referTo makes a reference to a group that may come later.
func (p *parser) referTo(group int) *backReference {
	if group < 1 || group > maxGroups {
		p.fail("a group %d that is not there", group)
	}
	return p.refer(&backReference{groups: []int{group}})
}

func (p *parser) referToName(name string) *backReference {
	return p.refer(&backReference{name: name})
}

func (p *parser) refer(r *backReference) *backReference {
	r.fold, r.at, r.ended = p.has(caseless), p.at, len(p.ended)
	p.references = append(p.references, r)
	return r
}

// resolve finds the groups of all references.
func (p *parser) resolve() {
	for _, r := range p.references {
		if r.name != "" {
			r.groups = p.named(r.name)
		}
		if p.err == nil && (len(r.groups) == 0 || r.groups[0] > p.total) {
			p.at = r.at
			p.fail("a reference to a group that is not there")
		}
		for _, group := range r.groups {
			order := p.ended[group]
			r.early = r.early || order == 0 || order > r.ended
		}
	}
}

// named gives the groups of a name in the order of the pattern.
func (p *parser) named(name string) []int {
	var groups []int
	for _, n := range p.names {
		if n.name == name {
			groups = append(groups, n.group)
		}
	}
	return groups
}

// name reads a name and what closes it.
func (p *parser) name(closer string) string {
	name := leading(p.in[p.at:], wordBytes)
	switch {
	case name == "" && closer == "}" && (p.peek(0) == ' ' || p.peek(0) == '\t'):
		p.unsupported("spaces within {}")
	case name == "":
		p.fail("want the name of a group")
	case digits.has(name[0]):
		p.fail("a name of a group that begins with a digit")
	case len(name) > maxLaterName:
		p.fail("a name of a group of more than %d bytes", maxLaterName)
	case len(name) > maxName:
		p.unsupported("a name of a group of more than 32 bytes")
	}
	if p.err != nil {
		return ""
	}
	p.at += len(name)
	if !p.accept(closer) {
		if closer == "}" {
			p.bracesLater("want } after the name of a group")
		}
		p.fail("want %s after the name of a group", closer)
	}
	return name
}

// define gives the next group a name.
func (p *parser) define(name string) {
	for _, n := range p.names {
		switch {
		case n.name == name && n.group == p.groups:
			return // again, in another branch of (?|..)
		case n.name == name && !p.has(duplicateNames):
			p.fail("two groups have the name %s", name)
		case n.name != name && n.group == p.groups:
			p.fail("two names for group %d", n.group)
		}
	}
	p.names = append(p.names, groupName{name, p.groups})
}

// groupNames gives the names by number.
func (p *parser) groupNames() []string {
	names := make([]string, p.total+1)
	for _, n := range p.names {
		names[n.group] = n.name
	}
	return names
}
