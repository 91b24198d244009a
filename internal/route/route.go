// Package route knows how nginx picks a location. Servers and their locations
// go in; out come their order (Sort), the location that answers a request
// (Match), why no other does (Choose) and a printed table of where every path
// goes (Table).
//
// Match follows nginx's own algorithms, so that a request can be explained
// without a running nginx:
//
//	answer := route.Match(config.Static.Servers, "shop.example", "/cart?id=1")
//	answer.Location.Rule.Object // the Ingress that answers
//
// It also holds what must be known of patterns: quoting literal text, whether
// one compiles, which named groups it has (Rename), and what a rewrite makes of
// a path (Rewritten).
package route

import (
	"cmp"
	"slices"
	"strings"

	"sluice/internal/model"
)

// Sort brings the locations of a server in the order in which they are
// written: "=" by path, then prefixes by path, then patterns. nginx tries
// patterns in the order of the file and takes the first that matches; they are
// ordered by descending length of the path as the user wrote it, as ingress-nginx
// does, so that the longest comes first. For equal lengths the text
// descends, and an Exact path comes before another type of the same text.
// nginx itself orders the other two kinds; writing them sorted makes it faster.
func Sort(locations []*model.Location) {
	slices.SortStableFunc(locations, compare)
}

func compare(a, b *model.Location) int {
	if order := cmp.Compare(rank(a.Modifier), rank(b.Modifier)); order != 0 {
		return order
	}
	if a.Modifier != model.Pattern {
		return strings.Compare(a.Path, b.Path)
	}
	return cmp.Or(
		cmp.Compare(len(b.Rule.Path), len(a.Rule.Path)),
		strings.Compare(b.Rule.Path, a.Rule.Path),
		cmp.Compare(inexact(a), inexact(b)),
		strings.Compare(a.Path, b.Path),
	)
}

func rank(m model.Modifier) int {
	switch m {
	case model.Equal:
		return 0
	case model.Pattern:
		return 2
	}
	return 1
}

func inexact(l *model.Location) int {
	if l.Rule.PathType == "Exact" {
		return 0
	}
	return 1
}
