package render

import (
	"regexp"
	"slices"
	"strings"

	"sluice/internal/syntax"
)

// inheritedWhole are the directives that a block inherits only if it has none of them.
// Sources: https://nginx.org/en/docs/http/ngx_http_headers_module.html#add_header and
// https://nginx.org/en/docs/http/ngx_http_core_module.html#error_page
var inheritedWhole = map[string]bool{
	"add_header": true, "add_trailer": true, "proxy_set_header": true, "proxy_hide_header": true, "proxy_pass_header": true,
	"grpc_set_header": true, "grpc_hide_header": true, "grpc_pass_header": true,
	"fastcgi_param": true, "fastcgi_hide_header": true, "fastcgi_pass_header": true, "error_page": true,
}

// inheritable is one such directive.
type inheritable struct {
	directive string
	header    string // in lower case, or the status of an error page
	text      string
	// joined is its text if the headers for backends are joined, "" if that is the same.
	joined string
}

// errorPage matches an error page with its statuses, which may be in quotes.
var errorPage = regexp.MustCompile(`(?s)^error_page((?:\s+(?:[0-9]+|"[0-9]+"|'[0-9]+'))+)(\s.*)$`)

// inheritables returns those at the outermost level of text, with an error page for each status.
func inheritables(text []byte) []inheritable {
	var found []inheritable
	syntax.Directives(text, func(d syntax.Directive) {
		if d.Depth > 0 || !inheritedWhole[d.Name] {
			return
		}
		whole := string(text[d.Start:d.End])
		if page := errorPage.FindStringSubmatch(whole); page != nil {
			for word := range strings.FieldsSeq(page[1]) {
				status := strings.Trim(word, `"'`)
				found = append(found, inheritable{directive: d.Name, header: status, text: d.Name + " " + status + page[2]})
			}
			return
		}
		found = append(found, inheritable{directive: d.Name, header: strings.ToLower(d.Arg), text: whole})
	})
	return found
}

// lost returns the directives that a block with own ones, or which cannot inherit those of some
// names, would no longer inherit. An own directive for the same header replaces an inherited one.
func lost(outside, own []inheritable, unlike ...string) []inheritable {
	var missing []inheritable
	for _, o := range outside {
		none := has(own, o.directive, "") || slices.Contains(unlike, o.directive)
		if none && !has(own, o.directive, o.header) {
			missing = append(missing, o)
		}
	}
	return missing
}

// has reports whether own has the directive for a header, or for any if header is "".
func has(own []inheritable, directive, header string) bool {
	return slices.ContainsFunc(own, func(i inheritable) bool {
		return i.directive == directive && (header == "" || i.header == header)
	})
}

// inForce returns the directives that inner blocks inherit: own, and those from outside
// that own does not replace.
func inForce(outside, own []inheritable) []inheritable {
	if len(own) == 0 {
		return outside
	}
	var all []inheritable
	for _, o := range outside {
		if !has(own, o.directive, o.header) {
			all = append(all, o)
		}
	}
	return append(all, own...)
}
