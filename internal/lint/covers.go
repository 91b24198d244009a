package lint

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"

	"sluice/internal/route"
)

// covers says whether the pattern outer matches every path that inner matches,
// as nginx's ~* does. known is false where that is not clear: then covers is
// false, too. It is clear for patterns that Go and PCRE read alike and of which
// one takes, part by part, what the other takes.
func covers(outer, inner string) (covers, known bool) {
	if outer == inner {
		return true, true
	}
	o, ok1 := steps(outer)
	i, ok2 := steps(inner)
	if !ok1 || !ok2 {
		return false, false
	}
	for len(o) > 0 && optional(o[len(o)-1]) {
		o = o[:len(o)-1] // what follows a match matters to nobody
	}
	p := pairing{outer: o, inner: i, failed: map[[2]int]bool{}}
	takes := p.from(0, 0)
	return takes, takes
}

// steps takes a pattern apart into what is matched one after the other, without
// the "^" that it begins with. It is false for patterns that Go reads otherwise
// than PCRE, and for those that need not begin at the start of a path.
func steps(pattern string) ([]*syntax.Regexp, bool) {
	if !route.Compiles(pattern) || strings.ContainsFunc(pattern, func(r rune) bool { return r > 126 }) {
		return nil, false
	}
	tree, err := syntax.Parse(pattern, syntax.Perl|syntax.FoldCase)
	if err != nil {
		return nil, false
	}
	all := flatten(tree.Simplify())
	if len(all) == 0 || all[0].Op != syntax.OpBeginText {
		return nil, false
	}
	return all[1:], true
}

// flatten gives the parts of a concatenation, literals one character a part and
// groups as what they hold.
func flatten(tree *syntax.Regexp) []*syntax.Regexp {
	var parts []*syntax.Regexp
	switch tree.Op {
	case syntax.OpCapture:
		return flatten(tree.Sub[0])
	case syntax.OpConcat:
		for _, sub := range tree.Sub {
			parts = append(parts, flatten(sub)...)
		}
		return parts
	case syntax.OpLiteral:
		for _, r := range tree.Rune {
			parts = append(parts, &syntax.Regexp{Op: syntax.OpLiteral, Flags: tree.Flags, Rune: []rune{r}})
		}
		return parts
	case syntax.OpEmptyMatch:
		return nil
	}
	return []*syntax.Regexp{tree}
}

// optional says whether a part matches nothing, too, wherever it stands.
func optional(part *syntax.Regexp) bool {
	return part.Op == syntax.OpStar || part.Op == syntax.OpQuest
}

// pairing puts each part of inner under a part of outer.
type pairing struct {
	outer, inner []*syntax.Regexp
	// failed are the pairs of offsets from which that is not possible.
	failed map[[2]int]bool
}

// from says whether outer from its part o on takes all that inner takes from its
// part i on.
func (p *pairing) from(o, i int) bool {
	if o == len(p.outer) {
		return true
	}
	at := [2]int{o, i}
	if p.failed[at] {
		return false
	}
	part := p.outer[o]
	under := i < len(p.inner)
	switch {
	case under && includes(part, p.inner[i]) && p.from(o+1, i+1):
		return true
	case optional(part) && (p.from(o+1, i) || under && includes(part.Sub[0], p.inner[i]) && p.from(o+1, i+1)):
		return true
	case under && part.Op == syntax.OpStar && includes(part.Sub[0], unrepeated(p.inner[i])) && p.from(o, i+1):
		return true
	case under && part.Op == syntax.OpPlus && !optional(p.inner[i]) && includes(part.Sub[0], unrepeated(p.inner[i])) && (p.from(o+1, i+1) || p.from(o, i+1)):
		return true
	}
	p.failed[at] = true
	return false
}

// unrepeated is what a part matches, perhaps several times.
func unrepeated(part *syntax.Regexp) *syntax.Regexp {
	switch part.Op {
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest:
		return part.Sub[0]
	}
	return part
}

// includes says whether outer matches all texts that inner matches.
func includes(outer, inner *syntax.Regexp) bool {
	outer, inner = ungrouped(outer), ungrouped(inner)
	switch {
	case outer.Equal(inner):
		return true
	case inner.Op == syntax.OpAlternate:
		return !slices.ContainsFunc(inner.Sub, func(sub *syntax.Regexp) bool { return !includes(outer, sub) })
	case outer.Op == syntax.OpAlternate:
		return slices.ContainsFunc(outer.Sub, func(sub *syntax.Regexp) bool { return includes(sub, inner) })
	}
	few, many := characters(inner), characters(outer)
	return few != nil && many != nil && spans(many, few)
}

func ungrouped(part *syntax.Regexp) *syntax.Regexp {
	for part.Op == syntax.OpCapture {
		part = part.Sub[0]
	}
	return part
}

// characters gives what a part that matches one character matches, as pairs of
// the first and the last of a range, sorted; nil for any other part.
func characters(part *syntax.Regexp) []rune {
	switch {
	case part.Op == syntax.OpCharClass:
		return part.Rune
	case part.Op == syntax.OpAnyCharNotNL:
		return []rune{0, '\n' - 1, '\n' + 1, unicode.MaxRune}
	case part.Op == syntax.OpLiteral && len(part.Rune) == 1 && part.Flags&syntax.FoldCase == 0:
		return []rune{part.Rune[0], part.Rune[0]}
	case part.Op == syntax.OpLiteral && len(part.Rune) == 1:
		return folded(part.Rune[0])
	}
	return nil
}

// folded gives the forms of a character in upper and lower case, as ranges.
func folded(r rune) []rune {
	forms := []rune{r}
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		forms = append(forms, other)
	}
	var ranges []rune
	slices.Sort(forms)
	for _, form := range forms {
		ranges = append(ranges, form, form)
	}
	return ranges
}

// spans says whether each of some ranges lies in one of others.
func spans(outer, inner []rune) bool {
	for i := 0; i < len(inner); i += 2 {
		found := false
		for o := 0; o < len(outer); o += 2 {
			found = found || outer[o] <= inner[i] && inner[i+1] <= outer[o+1]
		}
		if !found {
			return false
		}
	}
	return true
}
