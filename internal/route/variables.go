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
	if header == "host" {
		return r.Host, true
	}
	for _, h := range r.Headers {
		if strings.ReplaceAll(Lower(h.Name), "-", "_") == header {
			return r.header(Lower(h.Name)), true
		}
	}
	return "", false
}

// cookie returns the first cookie with a name, whose case nginx ignores.
func (r *Request) cookie(name string) (value string, ok bool) {
	for pair := range strings.SplitSeq(r.header("cookie"), ";") {
		sent, value, found := strings.Cut(strings.TrimLeft(pair, " "), "=")
		if found && Lower(sent) == Lower(name) {
			return value, true
		}
	}
	return "", false
}
