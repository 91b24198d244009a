package pcre

// letters are those of (?..) but "x", which may be doubled.
var letters = map[byte]options{'i': caseless, 'm': multiline, 's': dotAll, 'n': noCapture, 'U': ungreedy, 'J': duplicateNames}

// optionGroup reads (?i) and (?i:..). The former is no item.
func (p *parser) optionGroup() (item node, repeatable bool) {
	before := p.options
	after := p.optionLetters()
	switch {
	case p.accept(")"):
		p.options = after
		return nil, false
	case p.accept(":"):
		p.options = after
		body := p.nonCapturing()
		p.options = before
		return body, true
	}
	p.fail("missing )")
	return nil, false
}

// optionLetters reads the letters up to ")" or ":" and gives what is then in
// force.
func (p *parser) optionLetters() options {
	result := p.options
	hyphen := true
	if p.accept("^") {
		result &^= caseless | multiline | noCapture | dotAll | extended | extendedMore
		hyphen = false
	}
	var set, unset options
	target := &set
	for p.more() && p.peek(0) != ')' && p.peek(0) != ':' {
		switch c := p.next(); {
		case c == '-' && hyphen:
			target, hyphen = &unset, false
		case c == 'x':
			*target |= extended
			if p.accept("x") {
				*target |= extendedMore
			}
		case letters[c] != 0:
			*target |= letters[c]
		case c == 'a' || c == 'r':
			p.unsupported("the option " + string(c))
		default:
			p.at--
			p.fail("no option %q", c)
		}
	}
	// (?x) ends an earlier (?xx), and (?-x) both.
	if set&(extended|extendedMore) == extended || unset&extended != 0 {
		unset |= extendedMore
	}
	return (result | set) &^ unset
}
