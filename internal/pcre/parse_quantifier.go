package pcre

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	counts = regexp.MustCompile(`^\{([0-9]+)(?:(,)([0-9]*))?\}`)
	// laterCounts are quantifiers since PCRE2 10.43, and were literals before.
	laterCounts = regexp.MustCompile(`^\{[ \t]*(?:[0-9]+[ \t]*(?:,[ \t]*[0-9]*[ \t]*)?|,[ \t]*[0-9]+[ \t]*)\}`)
)

// quantified reads the quantifiers that follow an item.
func (p *parser) quantified(item node, repeatable bool) node {
	for p.skip(); p.more() && !p.quoted; p.skip() {
		start := p.at
		r, ok := p.quantifier()
		if !ok {
			break
		}
		if !repeatable {
			p.at = start
			p.fail("a quantifier without anything to repeat")
			return nil
		}
		r.mode = p.mode()
		item, repeatable = p.repeated(item, r), false
	}
	return item
}

// quantifier reads one quantifier without what makes it lazy or possessive. A "{"
// that begins none is a literal.
func (p *parser) quantifier() (r repeat, ok bool) {
	switch {
	case p.accept("*"):
		return repeat{min: 0, max: unlimited}, true
	case p.accept("+"):
		return repeat{min: 1, max: unlimited}, true
	case p.accept("?"):
		return repeat{min: 0, max: 1}, true
	case p.peek(0) == '{':
		return p.counts()
	}
	return r, false
}

func (p *parser) counts() (r repeat, ok bool) {
	found := counts.FindStringSubmatch(p.in[p.at:])
	if found == nil {
		if laterCounts.MatchString(p.in[p.at:]) {
			p.unsupported("a quantifier with spaces or without its first number")
		}
		return r, false
	}
	least, okLeast := count(found[1])
	most, okMost := count(found[3])
	switch {
	case found[2] == "":
		most, okMost = least, okLeast
	case found[3] == "":
		most, okMost = unlimited, true
	}
	if !okLeast || !okMost {
		p.fail("a number over %d in {}", maxCount)
		return r, false
	}
	if most != unlimited && most < least {
		p.fail("numbers out of order in {}")
		return r, false
	}
	p.at += len(found[0])
	return repeat{min: least, max: most}, true
}

// count reads a number; ok is false if it is too large.
func count(digits string) (n int, ok bool) {
	digits = strings.TrimLeft(digits, "0")
	if digits == "" {
		return 0, true
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil && n <= maxCount
}

// mode reads what makes a quantifier lazy or possessive. As in PCRE2 it may stand
// behind a comment.
func (p *parser) mode() mode {
	p.skip()
	if !p.quoted && p.more() {
		switch {
		case p.accept("+"):
			return possessive
		case p.accept("?"):
			return p.unless(lazy)
		}
	}
	return p.unless(greedy)
}

// unless gives the mode, or the other one with (?U).
func (p *parser) unless(m mode) mode {
	if p.has(ungreedy) {
		return lazy - m
	}
	return m
}

// repeated puts an item in a repeat. Look-arounds that are repeated without limit
// are tried once more than they have to, as in PCRE2.
func (p *parser) repeated(item node, r repeat) node {
	if p.err != nil {
		return nil
	}
	if _, ok := item.(look); ok && r.max == unlimited {
		r.max = r.min + 1
	}
	if r.min == 1 && r.max == 1 && r.mode != possessive {
		return item
	}
	r.body = item
	return r
}
