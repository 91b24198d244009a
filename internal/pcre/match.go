package pcre

import (
	"fmt"
	"regexp"
	"strings"
)

// Limits of a search. nginx has PCRE2 give up after as many steps as its file says,
// and, as it compiles patterns to machine code, where 32 KB do not hold the way to
// where the search is.
const (
	// LeastSteps is the least that nginx.conf allows a pattern, unless there are
	// many in a namespace.
	LeastSteps = 20_000
	// maxFrames is how many choices may lie on the way. PCRE2 has room for 2,950 at
	// least, of all shapes that were tried.
	maxFrames = 2_200
)

// Match searches the subject for the first place where the pattern matches. Of
// group n the begin and the end are at 2n and 2n+1, -1 if it took no part; group
// 0 is the whole. The error is ErrTooHard or wraps ErrUnsupported.
func (p *Pattern) Match(subject string) (groups []int, ok bool, err error) {
	return p.MatchWithin(subject, LeastSteps)
}

// MatchWithin is Match where PCRE2 may take so many steps.
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

// beginsOtherwise reports whether a subject does not begin as all do that match. It
// spares what Go makes of the pattern.
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

// without gives the pattern without the look-aheads that have a place: those that
// hold in a text are left out, those that fail match nothing.
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

// Matches says whether the pattern matches in as many steps as are left, and takes
// off those that it takes.
func (p *Pattern) Matches(subject string, left *int) (ok bool, err error) {
	e := text{len(subject), subject}.whole(p.tree)
	_, ok, err = p.match(subject, e, min(*left, LeastSteps))
	*left -= 1 + len(subject)/8 + int(min(e.steps, LeastSteps))
	return ok, err
}

// runes gives a subject as Go has to get it, see regular, and where each of its
// bytes was; nil is where it is.
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
