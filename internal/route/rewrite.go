package route

import (
	"fmt"
	"strconv"
	"strings"

	"sluice/internal/model"
	"sluice/internal/pcre"
)

// Rewritten returns the result of a rewrite for a path, with $1 to $9 and the named
// groups replaced. A path that does not match stays unchanged. It returns false if
// package pcre cannot evaluate the pattern, or the target uses variables of nginx.
// Source: https://nginx.org/en/docs/http/ngx_http_rewrite_module.html#rewrite
func Rewritten(r *model.Rewrite, path string) (target string, ok bool) {
	compiled, err := pcre.Compile(r.Pattern, 0)
	if err != nil {
		return "", false
	}
	groups, matches, err := compiled.Match(path)
	switch {
	case err != nil:
		return "", false
	case !matches:
		return path, true
	}
	captured := map[string]string{}
	for n, name := range compiled.GroupNames() {
		if text := group(groups, n, path); n > 0 {
			captured[strconv.Itoa(n)], captured[name] = text, text
		}
	}
	return substitute(r.Target, captured)
}

// Passed returns the URI that nginx sends to a backend if a rewrite has changed the
// path: nginx escapes the path again and keeps the query.
func Passed(path, uri string) string {
	uri, _, _ = strings.Cut(uri, "#")
	if _, query, _ := strings.Cut(uri, "?"); query != "" {
		return escape(path) + "?" + query
	}
	return escape(path)
}

// escape escapes a changed path as nginx does. Source: ngx_escape_uri in nginx's
// src/core/ngx_string.c
func escape(path string) string {
	var out strings.Builder
	for i := range len(path) {
		if ch := path[i]; ch <= ' ' || ch >= 0x7f || strings.IndexByte("\"#%<>?\\^`{|}", ch) >= 0 {
			fmt.Fprintf(&out, "%%%02X", ch)
		} else {
			out.WriteByte(ch)
		}
	}
	return out.String()
}

// group returns the text of a group, "" if it did not take part.
func group(groups []int, n int, path string) string {
	if 2*n+1 >= len(groups) || groups[2*n] < 0 {
		return ""
	}
	return path[groups[2*n]:groups[2*n+1]]
}

// substitute replaces $1 to $9 and named groups. A digit counts as one reference
// whatever follows it, and a reference without a group is empty. It returns false for
// any other variable.
func substitute(target string, captured map[string]string) (text string, ok bool) {
	ok = true
	text = groupReference.ReplaceAllStringFunc(target, func(found string) string {
		name := strings.Trim(found, "${}")
		value, known := captured[name]
		ok = ok && (known || name[0] <= '9')
		return value
	})
	return text, ok
}
