package translate

import (
	"strings"

	"sluice/internal/model"
)

// longestNode is how much of a path nginx before 1.23.4 can keep in one node of
// its tree of locations: it keeps the length in one byte, and finds the wrong
// location for what is longer.
// Source: ngx_http_create_locations_tree in nginx's src/http/ngx_http.c.
const longestNode = 255

// steps lets long paths be found. A node holds what a path has more than the
// longest prefix above it; where that is too much, a prefix location on the way,
// which does what the prefix above it does, takes the first part.
func (b *builder) steps() {
	prefixes := map[string]*model.Location{}
	for _, l := range b.locations {
		if l.Modifier == model.PrefixFirst || l.Modifier == model.Prefix {
			prefixes[l.Path] = l
		}
	}
	for _, l := range b.locations {
		if l.Modifier == model.Pattern || len(l.Path) <= longestNode {
			continue
		}
		above := longestPrefix(l.Path, prefixes)
		for above != nil && len(l.Path)-len(above.Path) > longestNode {
			step := *above
			step.Rule.Kind = model.RuleShadow
			// A step that ended in "/" would redirect the path without it.
			step.Path = strings.TrimSuffix(l.Path[:len(above.Path)+longestNode], "/")
			prefixes[step.Path] = &step
			b.locations = append(b.locations, &step)
			above = &step
		}
	}
}

// longestPrefix finds the longest of the prefixes that a path goes on from.
func longestPrefix(path string, prefixes map[string]*model.Location) *model.Location {
	for end := len(path) - 1; end > 0; end-- {
		if l := prefixes[path[:end]]; l != nil {
			return l
		}
	}
	return nil
}
