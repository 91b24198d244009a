// Package route chooses a location as nginx does. It takes servers and their
// locations. It provides their order (Sort), the location of a request (Match), the
// reason why no other takes it (Choose), and a printed routing table (Table).
//
// Match follows nginx's own algorithms, so that a request can be explained
// without a running nginx:
//
//	answer := route.Match(config.Static.Servers, "shop.example", "/cart?id=1")
//	answer.Location.Rule.Object // the Ingress that answers
//
// It also handles patterns: quoting literal text, compiling, renaming named groups
// (Rename), and the result of a rewrite (Rewritten).
package route

import (
	"cmp"
	"slices"
	"strings"

	"sluice/internal/model"
)

// Sort puts the locations of a server in the order of the file: "=" by path, then
// prefixes by path, then patterns. nginx uses the first matching pattern of the file.
// Patterns are sorted by descending length of the path as written, as in
// ingress-nginx, so that the longest comes first. Of equal lengths the text descends.
// Patterns of the same text keep their order, which is that of the age of their Ingresses
// and then that of their paths. nginx sorts the other two kinds itself; writing them
// sorted is faster.
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
