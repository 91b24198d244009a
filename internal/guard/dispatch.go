package guard

import (
	"cmp"
	"slices"
	"strings"

	"sluice/internal/model"
)

// handOver collects the internal locations to which locations dispatch requests.
func (j *judge) handOver(internal []*model.Internal) {
	j.named = map[string]*model.Location{}
	for _, l := range internal {
		if l.Modifier == model.Named {
			j.named[l.Path] = l.Location
		}
	}
}

// takers returns the locations that may serve the requests of a claim at a location:
// all up to the first one that certainly takes them.
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

// apart reports whether no request can have both matches.
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

// within reports whether all requests of inner are also requests of outer.
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

// compareMatches orders the claims of one path: first by method, then those with more
// headers, then those with more query parameters.
func compareMatches(a, b model.Match) int {
	return cmp.Or(
		cmp.Compare(min(1, len(b.Method)), min(1, len(a.Method))),
		cmp.Compare(len(b.Headers), len(a.Headers)),
		cmp.Compare(len(b.Query), len(a.Query)),
	)
}
