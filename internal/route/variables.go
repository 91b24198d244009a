package route

import "strings"

// Variable returns the value of one of nginx's variables $http_NAME and $cookie_NAME; ok is
// false if the request has no such header or cookie.
func (r *Request) Variable(name string) (value string, ok bool) {
	if cookie, is := strings.CutPrefix(name, "cookie_"); is {
		return r.cookie(cookie)
	}
	header, is := strings.CutPrefix(name, "http_")
	if !is {
		return "", false
	}
	return r.header(header)
}

// header returns the values of all headers with a name, which is as in a variable. nginx drops
// names with "_" unless a setting lets them in, and takes spaces from the ends of values, but
// no tabs.
func (r *Request) header(name string) (value string, ok bool) {
	if name == "host" {
		return r.Host, true
	}
	var values []string
	for _, h := range r.Headers {
		if inVariable(h.Name) == name && (r.Underscores || !strings.Contains(h.Name, "_")) {
			values = append(values, strings.Trim(h.Value, " "))
		}
	}
	if name == "cookie" {
		return strings.Join(values, "; "), len(values) > 0
	}
	return strings.Join(values, ", "), len(values) > 0
}

// inVariable returns the name of a header as nginx writes it in a variable.
func inVariable(name string) string { return strings.ReplaceAll(Lower(name), "-", "_") }

// cookie returns the first cookie with a name, whose case nginx ignores. A cookie begins behind
// a ";" or a ",", and its value ends at a ";". Spaces may stand around the "=". The byte behind
// a name is skipped even if it is a separator, so that a cookie without "=" hides the one
// behind it. Source: ngx_http_parse_multi_header_lines in nginx's src/http/ngx_http_parse.c.
func (r *Request) cookie(name string) (value string, ok bool) {
	rest, _ := r.header("cookie")
	for rest != "" {
		if len(rest) >= len(name) && Lower(rest[:len(name)]) == Lower(name) {
			rest = strings.TrimLeft(rest[len(name):], " ")
			if after, found := strings.CutPrefix(rest, "="); found {
				value, _, _ = strings.Cut(strings.TrimLeft(after, " "), ";")
				return value, true
			}
			rest = rest[min(1, len(rest)):]
		}
		next := strings.IndexAny(rest, ";,")
		if next < 0 {
			break
		}
		rest = strings.TrimLeft(rest[next+1:], " ")
	}
	return "", false
}
