package render

import (
	"slices"
	"strings"

	"sluice/internal/syntax"
)

// modules are the paths of the modules that the file loads: the usual ones, that of streams
// if there is a stream, headers-more if a snippet uses it, and ModSecurity if a location
// does.
func (r *rendering) modules() []string {
	paths := slices.Clip(r.env.Modules)
	if path := r.env.StreamModule; path != "" && len(r.streamBody) > 0 {
		paths = append(paths, path)
	}
	if path := r.env.HeadersMoreModule; path != "" && slices.ContainsFunc(r.body, func(c *chunk) bool { return c.headersMore }) {
		paths = append(paths, path)
	}
	if path := r.env.ModSecurityModule; path != "" && r.inspected.requests {
		paths = append(paths, path)
	}
	return paths
}

// usesHeadersMore reports whether one of the snippets of a text, all closed, has a
// directive of headers-more.
func usesHeadersMore(text []byte, snippets []extent) bool {
	for _, e := range snippets {
		statements, _ := syntax.Parse(text[e.start:e.end])
		if slices.ContainsFunc(statements, ofHeadersMore) {
			return true
		}
	}
	return false
}

// ofHeadersMore reports whether a directive is one of headers-more.
// Source: https://github.com/openresty/headers-more-nginx-module#directives
func ofHeadersMore(s syntax.Statement) bool { return strings.HasPrefix(s.Name(), "more_") }
