package guard

import (
	"cmp"
	"slices"
	"strings"

	"sluice/internal/model"
	"sluice/internal/pcre"
)

// places finds the location of a path as nginx does it: an exact location, else the
// longest prefix, unless that allows patterns and one of them matches.
type places struct {
	exact, prefixes map[string]*model.Location
	// lengths are the lengths of the prefixes, longest first.
	lengths []int
	// patterns are in the order of the file. byStart has their indexes by literal
	// beginning, and starts the lengths of these beginnings.
	patterns []*tried
	byStart  map[string][]int
	starts   []int
	// borders are the sorted paths of all locations that are not patterns.
	borders []string
}

// tried is the location of a pattern.
type tried struct {
	location *model.Location
	// compiled is nil if the pattern cannot be evaluated in Go.
	compiled *pcre.Pattern
}

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
	t := &tried{location: l}
	t.compiled, _ = pcre.Compile(l.Path, pcre.Caseless)
	start := ""
	if rest, anchored := strings.CutPrefix(l.Path, "^"); anchored {
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

// find returns the location of a path; nil if nginx answers itself. known is false if
// a pattern that could match cannot be evaluated.
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

// redirects reports whether nginx redirects to the path with a slash, because that
// path is proxied.
func (p *places) redirects(slashed string) bool {
	for _, l := range []*model.Location{p.exact[slashed], p.prefixes[slashed]} {
		if l != nil && l.Proxy != nil {
			return true
		}
	}
	return false
}

// tryPatterns returns the first matching pattern of the file.
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

// below returns paths of locations that begin with a text, at most mostBorders.
func (p *places) below(text string) []string {
	first, _ := slices.BinarySearch(p.borders, text)
	last := first
	for last < len(p.borders) && last < first+mostBorders && strings.HasPrefix(p.borders[last], text) {
		last++
	}
	return p.borders[first:last]
}

// mostBorders is the maximum number of locations to try below a path.
const mostBorders = 64
