package render

import (
	"strings"

	"sluice/internal/syntax"
)

// inheritedWhole are the directives of which a block inherits all or, if it has
// one of its own, none.
// Source: https://nginx.org/en/docs/http/ngx_http_headers_module.html#add_header
var inheritedWhole = map[string]bool{
	"add_header": true, "add_trailer": true, "proxy_set_header": true, "proxy_hide_header": true, "proxy_pass_header": true,
}

// said is one such directive.
type said struct {
	directive string
	header    string // in lower case
	text      string
}

// saidIn gives those at the outermost level of text.
func saidIn(text []byte) []said {
	var found []said
	syntax.Directives(text, func(d syntax.Directive) {
		if d.Depth == 0 && inheritedWhole[d.Name] {
			found = append(found, said{directive: d.Name, header: strings.ToLower(d.Arg), text: string(text[d.Start:d.End])})
		}
	})
	return found
}

// lost gives what a block with directives of its own would no longer inherit.
// What it says itself of a header replaces what is said outside.
func lost(outside, own []said) []said {
	var missing []said
	for _, o := range outside {
		if speaksOf(own, o.directive, "") && !speaksOf(own, o.directive, o.header) {
			missing = append(missing, o)
		}
	}
	return missing
}

// speaksOf reports whether own has the directive for a header, or for any
// header if it is "".
func speaksOf(own []said, directive, header string) bool {
	for _, s := range own {
		if s.directive == directive && (header == "" || s.header == header) {
			return true
		}
	}
	return false
}

// inForce is what the blocks within inherit: what is said outside, where own
// does not replace it, and own.
func inForce(outside, own []said) []said {
	if len(own) == 0 {
		return outside
	}
	var all []said
	for _, o := range outside {
		if !speaksOf(own, o.directive, o.header) {
			all = append(all, o)
		}
	}
	return append(all, own...)
}
