package assemble

import (
	"slices"
	"strings"
	"unicode/utf8"

	"sluice/internal/model"
)

const (
	// LongestNode is how much of a path nginx before 1.23.4 can keep in one node of
	// its tree of locations: it keeps the length in one byte, and takes the wrong
	// location for what is longer.
	// Source: ngx_http_create_locations_tree in nginx's src/http/ngx_http.c.
	LongestNode = 255
	// longestWord is more than nginx reads as one word, so that no location has a
	// path of this length.
	// Source: NGX_CONF_BUFFER in nginx's src/core/ngx_conf_file.c.
	longestWord = 4096
)

// steps lets long paths be found. A node holds what a path has more than the
// longest prefix above it; where that is too much, a prefix location on the way,
// which does what the prefix above it does, takes the first part.
func (b *builder) steps() {
	if !slices.ContainsFunc(b.locations, isLong) {
		return
	}
	literals := slices.DeleteFunc(slices.Clone(b.locations), func(l *model.Location) bool { return l.Modifier == model.Pattern })
	slices.SortFunc(literals, func(x, y *model.Location) int { return strings.Compare(x.Path, y.Path) })
	var above []*model.Location // the prefixes that the path begins with, the longest last
	for _, l := range literals {
		for len(above) > 0 && !strings.HasPrefix(l.Path, above[len(above)-1].Path) {
			above = above[:len(above)-1]
		}
		for len(above) > 0 && isLong(l) && len(l.Path)-len(above[len(above)-1].Path) > LongestNode {
			step := *above[len(above)-1]
			step.Rule.Kind = asShadow(step.Rule.Kind)
			step.Path = stepOf(l.Path, len(step.Path)+LongestNode)
			above = append(above, &step)
			b.locations = append(b.locations, &step)
		}
		if l.Modifier != model.Equal {
			above = append(above, l)
		}
	}
}

// isLong tells a path that may need steps.
func isLong(l *model.Location) bool {
	return l.Modifier != model.Pattern && len(l.Path) > LongestNode && len(l.Path) < longestWord
}

// stepOf cuts a path off at some length or a few bytes before, between two
// characters. A step that ended in "/" would redirect the path without it.
func stepOf(path string, length int) string {
	for range utf8.UTFMax - 1 {
		if !utf8.RuneStart(path[length]) {
			length--
		}
	}
	return strings.TrimSuffix(path[:length], "/")
}
