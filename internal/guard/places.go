package guard

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"sluice/internal/model"
	"sluice/internal/pcre"
)

// places finds who takes a path, as nginx does: an exact location, else the longest
// prefix unless it lets patterns have a try and one of them matches.
type places struct {
	exact, prefixes map[string]*model.Location
	// lengths are those of the prefixes, the longest first.
	lengths []int
	// patterns are in the order of the file; byStart has their numbers by what they
	// begin with, and starts the lengths of that.
	patterns []*tried
	byStart  map[string][]int
	starts   []int
	// borders are the paths of the locations that are no patterns, sorted.
	borders []string
}

// tried is a location that is a pattern.
type tried struct {
	location *model.Location
	// compiled is nil if its answers cannot be told.
	compiled *pcre.Pattern
}

// verbs are the limits that may stand before a pattern.
var verbs = regexp.MustCompile(`^(?:\(\*LIMIT_[A-Z]+=[0-9]+\))*`)

func newPlaces(locations []*model.Location) *places {
	p := &places{exact: map[string]*model.Location{}, prefixes: map[string]*model.Location{}, byStart: map[string][]int{}}
	for _, l := range locations {
		switch l.Modifier {
		case model.Equal:
			p.exact[l.Path] = l
		case model.Pattern:
			p.addPattern(l)
			continue
		default:
			p.prefixes[l.Path] = l
			p.lengths = append(p.lengths, len(l.Path))
		}
		p.borders = append(p.borders, l.Path)
	}
	slices.Sort(p.borders)
	p.lengths, p.starts = descending(p.lengths), descending(p.starts)
	return p
}

func (p *places) addPattern(l *model.Location) {
	text := verbs.ReplaceAllString(l.Path, "")
	t := &tried{location: l}
	t.compiled, _ = pcre.Compile(text, pcre.Caseless)
	start := ""
	if rest, anchored := strings.CutPrefix(text, "^"); anchored {
		start = sureStart(rest)
	}
	p.byStart[start] = append(p.byStart[start], len(p.patterns))
	p.starts = append(p.starts, len(start))
	p.patterns = append(p.patterns, t)
}

func descending(lengths []int) []int {
	slices.SortFunc(lengths, func(a, b int) int { return cmp.Compare(b, a) })
	return slices.Compact(lengths)
}

// find gives the location of a path; nil where nginx answers by itself. Known is
// false where a pattern that could match cannot be told.
func (p *places) find(path string, left *int) (taker *model.Location, known bool) {
	*left -= 1 + len(p.lengths)
	if l := p.exact[path]; l != nil {
		return l, true
	}
	var longest *model.Location
	for _, length := range p.lengths {
		if length <= len(path) && p.prefixes[path[:length]] != nil {
			longest = p.prefixes[path[:length]]
			break
		}
	}
	if (longest == nil || longest.Path != path) && p.redirects(path+"/") {
		return nil, true
	}
	if longest != nil && longest.Modifier == model.PrefixFirst {
		return longest, true
	}
	taker, known = p.tryPatterns(path, left)
	if taker == nil {
		taker = longest
	}
	return taker, known
}

// redirects reports whether nginx adds a slash: the path with it is proxied.
func (p *places) redirects(slashed string) bool {
	for _, l := range []*model.Location{p.exact[slashed], p.prefixes[slashed]} {
		if l != nil && l.Proxy != nil {
			return true
		}
	}
	return false
}

// tryPatterns gives the first pattern of the file that matches.
func (p *places) tryPatterns(path string, left *int) (taker *model.Location, known bool) {
	var candidates []int
	folded := lower(path)
	for _, length := range p.starts {
		if length <= len(path) {
			candidates = append(candidates, p.byStart[folded[:length]]...)
		}
	}
	slices.Sort(candidates)
	for _, at := range candidates {
		*left--
		t := p.patterns[at]
		if t.compiled == nil || *left <= 0 {
			return nil, false
		}
		ok, err := t.compiled.Matches(path, left)
		if err != nil {
			return nil, false
		}
		if ok {
			return t.location, true
		}
	}
	return nil, true
}

// below gives the paths of locations that begin with a text, a bounded number.
func (p *places) below(text string) []string {
	first, _ := slices.BinarySearch(p.borders, text)
	last := first
	for last < len(p.borders) && last < first+mostBorders && strings.HasPrefix(p.borders[last], text) {
		last++
	}
	return p.borders[first:last]
}

// mostBorders is how many locations below a path are looked at.
const mostBorders = 64
