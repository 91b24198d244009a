package pcre

import (
	"fmt"
	"regexp"
	"strings"
)

// Limits of a search. PCRE2 gives up after the number of steps in nginx.conf, or when
// its stack of 32 KB for compiled patterns is full.
const (
	// LeastSteps is the minimum that nginx.conf allows a pattern, unless a namespace has
	// many.
	LeastSteps = 20_000
	// maxFrames is the maximum number of open choices. PCRE2 had room for at least 2,950
	// in all tested shapes.
	maxFrames = 2_200
)

// Match searches the subject for the first match. The begin and the end of group n are
// at 2n and 2n+1, -1 if it did not take part; group 0 is the whole match. The error is
// ErrTooHard or wraps ErrUnsupported.
func (p *Pattern) Match(subject string) (groups []int, ok bool, err error) {
	return p.MatchWithin(subject, LeastSteps)
}

// MatchWithin is Match with another limit of PCRE2's steps.
func (p *Pattern) MatchWithin(subject string, steps int) (groups []int, ok bool, err error) {
	return p.match(subject, text{len(subject), subject}.whole(p.tree), steps)
}

func (p *Pattern) match(subject string, e effort, steps int) (groups []int, ok bool, err error) {
	if !p.bounded(e, steps) {
		return nil, false, ErrTooHard
	}
	if p.beginsOtherwise(subject) {
		return nil, false, nil
	}
	text, places := runes(subject)
	compiled, err := p.without(text)
	if err != nil {
		return nil, false, fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	groups = compiled.FindStringSubmatchIndex(text)
	switch {
	case groups != nil && p.atStart != nil:
		if groups, ok, err = p.atStart.MatchWithin(subject, steps); ok || err != nil {
			return groups, ok, err
		}
		fallthrough
	case groups != nil && !p.exact:
		return nil, false, fmt.Errorf("%s is %w", p.tree.irregular(p.looks), ErrUnsupported)
	}
	for i, at := range groups {
		if places != nil && at >= 0 {
			groups[i] = places[at]
		}
	}
	return groups, groups != nil, nil
}

// beginsOtherwise reports whether the literal beginning of the pattern rules a subject
// out. It saves compiling the pattern.
func (p *Pattern) beginsOtherwise(subject string) bool {
	if p.tree.kind != sequence || len(p.tree.parts) == 0 || p.tree.parts[0].kind != subjectStart {
		return false
	}
	for i, part := range p.tree.parts[1:] {
		if part.kind != oneByte {
			return false
		}
		if i == len(subject) || !part.set.has(subject[i]) {
			return true
		}
	}
	return false
}

// without returns the pattern for a text, without the look-aheads that have a place:
// those that hold are left out, those that fail match nothing.
func (p *Pattern) without(text string) (*regexp.Regexp, error) {
	fails := map[*node]bool{}
	for _, look := range p.looks {
		found, err := regexp.MatchString(fmt.Sprintf(`\A%s{%d}(?:%s)`, anything, look.at, look.node.parts[0].regular(nil)), text)
		if err != nil {
			return nil, err
		}
		if found == look.node.negative {
			fails[look.node] = true
		}
	}
	if len(fails) == 0 {
		return p.regexp()
	}
	return regexp.Compile(p.tree.regular(fails))
}

// Matches reports whether the pattern matches within the steps left, and subtracts its
// steps from them.
func (p *Pattern) Matches(subject string, left *int) (ok bool, err error) {
	e := text{len(subject), subject}.whole(p.tree)
	_, ok, err = p.match(subject, e, min(*left, LeastSteps))
	*left -= 1 + len(subject)/8 + int(min(e.steps, LeastSteps))
	return ok, err
}

// runes converts a subject for Go's regexp (see regular). It also returns the original
// position of each byte, nil if no position changes.
func runes(subject string) (text string, places []int) {
	plain := func(r rune) bool { return r < 0x80 && r != '\n' }
	if strings.IndexFunc(strings.TrimSuffix(subject, "\n"), func(r rune) bool { return !plain(r) }) < 0 {
		return subject, nil
	}
	var out strings.Builder
	for i := range len(subject) {
		r := rune(subject[i])
		if r == '\n' && i+1 < len(subject) {
			r = otherNewline
		}
		out.WriteRune(r)
		for len(places) < out.Len() {
			places = append(places, i)
		}
	}
	return out.String(), append(places, len(subject))
}
