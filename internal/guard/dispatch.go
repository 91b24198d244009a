package guard

import (
	"cmp"
	"slices"
	"strings"

	"sluice/internal/model"
)

// handOver notes the internal locations that locations hand requests over to.
func (j *judge) handOver(internal []*model.Internal) {
	j.named = map[string]*model.Location{}
	for _, l := range internal {
		if l.Modifier == model.Named {
			j.named[l.Path] = l.Location
		}
	}
}

// takers are the locations that may serve the requests which a claim asks for at a
// location: those before the first that is sure to take them, and that one.
func (j *judge) takers(c *Claim, reached *model.Location) []*model.Location {
	if reached == nil || len(reached.Dispatch) == 0 {
		return []*model.Location{reached}
	}
	var takers []*model.Location
	for _, candidate := range reached.Dispatch {
		if apart(candidate.Match, c.Match) {
			continue
		}
		if taker := j.named[candidate.To]; !slices.Contains(takers, taker) {
			takers = append(takers, taker)
		}
		j.left--
		if len(candidate.Conditions) == 0 || within(c.Match, candidate.Match) {
			break
		}
	}
	return takers
}

// apart reports whether no request has both matches.
func apart(a, b model.Match) bool {
	return a.Method != "" && b.Method != "" && a.Method != b.Method || differ(a.Headers, b.Headers, strings.EqualFold) || differ(a.Query, b.Query, equal)
}

func equal(a, b string) bool { return a == b }

func differ(all, others []model.ValueMatch, same func(a, b string) bool) bool {
	return slices.ContainsFunc(all, func(v model.ValueMatch) bool {
		return slices.ContainsFunc(others, func(o model.ValueMatch) bool {
			return same(v.Name, o.Name) && !v.Pattern && !o.Pattern && v.Value != o.Value
		})
	})
}

// within reports whether all requests of one match are of the other too.
func within(inner, outer model.Match) bool {
	return (outer.Method == "" || outer.Method == inner.Method) && contain(inner.Headers, outer.Headers, strings.EqualFold) && contain(inner.Query, outer.Query, equal)
}

func contain(all, some []model.ValueMatch, same func(a, b string) bool) bool {
	for _, v := range some {
		if !slices.ContainsFunc(all, func(o model.ValueMatch) bool {
			return same(v.Name, o.Name) && v.Value == o.Value && v.Pattern == o.Pattern
		}) {
			return false
		}
	}
	return true
}

// compareMatches orders the claims of one path: a method, more headers, more
// parameters of the query come first.
func compareMatches(a, b model.Match) int {
	return cmp.Or(
		cmp.Compare(min(1, len(b.Method)), min(1, len(a.Method))),
		cmp.Compare(len(b.Headers), len(a.Headers)),
		cmp.Compare(len(b.Query), len(a.Query)),
	)
}
