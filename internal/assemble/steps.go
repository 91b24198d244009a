package assemble

import (
	"slices"
	"strings"
	"unicode/utf8"

	"sluice/internal/model"
)

const (
	// LongestNode is the longest part of a path, in bytes, that a node in the location
	// tree of nginx before 1.23.4 can hold. It keeps the length in one byte, and finds
	// the wrong location for a longer one.
	// Source: ngx_http_create_locations_tree in nginx's src/http/ngx_http.c.
	LongestNode = 255
	// longestWord is longer than any word that nginx reads, so that no location has a
	// path of this length.
	// Source: NGX_CONF_BUFFER in nginx's src/core/ngx_conf_file.c.
	longestWord = 4096
)

// steps lets nginx find long paths. A node holds the part of a path behind the longest
// prefix above it. If that is too long, a step takes the first part: a prefix location
// that does the same as the prefix above it.
func (b *builder) steps() {
	if !slices.ContainsFunc(b.locations, isLong) {
		return
	}
	literals := slices.DeleteFunc(slices.Clone(b.locations), func(l *model.Location) bool { return l.Modifier == model.Pattern })
	slices.SortFunc(literals, func(x, y *model.Location) int { return strings.Compare(x.Path, y.Path) })
	var above []*model.Location // the prefixes of the path, the longest last
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

// isLong reports whether a path may need steps.
func isLong(l *model.Location) bool {
	return l.Modifier != model.Pattern && len(l.Path) > LongestNode && len(l.Path) < longestWord
}

// stepOf cuts a path at a length, or a few bytes before it, between two characters. It
// ends in no "/", because nginx would redirect the path without it.
func stepOf(path string, length int) string {
	for range utf8.UTFMax - 1 {
		if !utf8.RuneStart(path[length]) {
			length--
		}
	}
	return strings.TrimSuffix(path[:length], "/")
}
