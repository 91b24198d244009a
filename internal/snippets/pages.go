package snippets

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

// errorPages replaces the error_page of a block.
func (r *reader) errorPages(nodes []*node, at scope) {
	named := map[string]*node{}
	for _, n := range nodes {
		if n.Name() == "location" {
			named[n.argument(len(n.Tokens)-1)] = n
		}
	}
	replaced, any := true, false
	for _, n := range nodes {
		if n.Name() == "error_page" {
			replaced, any = r.errorPage(n, at, named) && replaced, true
		}
	}
	for _, n := range nodes {
		switch {
		case n.Name() != "proxy_intercept_errors" || n.argument(1) != "on":
		case any && replaced:
			r.needlessFor(n, "the annotations for error_page do it")
		default:
			r.leave(n, "want custom-http-errors")
		}
	}
}

// errorPage reports whether an annotation replaces an error_page.
func (r *reader) errorPage(n *node, at scope, named map[string]*node) bool {
	p, ok := pageOf(n)
	if !ok {
		r.leave(n, "want custom-http-errors with default-backend, a Service that has the pages")
		return false
	}
	location := named[p.target]
	if location != nil && len(location.block) == 1 && location.block[0].Name() == "return" && location.block[0].argument(2) == "" {
		p.status = location.block[0].argument(1)
	}
	denial := len(p.status) == 3 && (p.status[0] == '4' || p.status[0] == '5')
	fallback := p.status == "" || p.status == "=" || p.status == "200"
	switch {
	case denial && (location != nil && isReturn(location) || p.status != "" && location == nil && p.target[0] == '/'):
		r.add(n, at, OwnPrefix+"error-status", strings.Join(p.codes, " ")+" = "+p.status)
		if location != nil {
			r.done[location] = true
			r.replaced(location, r.entry(OwnPrefix+"error-status", at.where))
		}
	case len(p.codes) == 1 && p.codes[0] == "404" && isPlain(p.target) && location == nil && fallback:
		if w := r.write(n, at, OwnPrefix+"fallback-path", p.target); w != nil {
			r.fallbackSteps(w, p)
		}
	case ofCertificates(p.codes) && isURL(p.target) && !strings.Contains(p.target, "$") && at.path == "":
		r.write(n, at, "auth-tls-error-page", p.target)
	default:
		r.leave(n, "want custom-http-errors: "+strconv.Quote(strings.Join(p.codes, ","))+" with default-backend, a Service that has the pages")
		return false
	}
	return true
}

// fallbackSteps says how fallback-path differs from a page.
func (r *reader) fallbackSteps(w *written, p page) {
	if p.status == "" {
		w.step("which answers 200 in place of 404")
	}
	if !r.has("proxy_intercept_errors on") {
		w.step("which replaces the 404 of a backend too, as this does only with proxy_intercept_errors")
	}
}

func isReturn(location *node) bool {
	return len(location.block) == 1 && location.block[0].Name() == "return"
}

// ofCertificates reports whether all statuses are those of wrong certificates of clients.
func ofCertificates(codes []string) bool {
	for _, code := range codes {
		if code != "495" && code != "496" {
			return false
		}
	}
	return true
}

// page is an error_page. status is "=" for that of the page, empty for the one of the error.
type page struct {
	codes          []string
	status, target string
}

var statusPattern = regexp.MustCompile(`^[45][0-9]{2}$`)

func pageOf(n *node) (page, bool) {
	last := len(n.Tokens) - 1
	p := page{}
	for _, token := range n.Tokens[1:max(last, 1)] {
		switch {
		case statusPattern.MatchString(token) && p.status == "":
			p.codes = append(p.codes, token)
		case token == "=":
			p.status = "="
		case strings.HasPrefix(token, "="):
			p.status = token[1:]
		default:
			return p, false
		}
	}
	if last > 0 {
		p.target = n.Tokens[last]
	}
	return p, len(p.codes) > 0 && p.target != ""
}

// subFilter replaces sub_filter OLD NEW.
func (r *reader) subFilter(n *node, at scope) {
	before, after := n.argument(1), n.argument(2)
	for _, text := range []string{before, after} {
		if strings.ContainsAny(text, "$\n") || strings.Contains(text, "=>") || strings.TrimSpace(text) != text {
			r.leave(n, "sluice.io/sub-filter takes texts of one line, without variables and spaces at their ends")
			return
		}
	}
	if before == "" {
		r.leave(n, "")
		return
	}
	w := r.add(n, at, OwnPrefix+"sub-filter", before+" => "+after)
	if !r.has("sub_filter_once off") {
		w.step("which replaces the text wherever it is, not only once")
	}
}

// has reports whether a directive with its arguments is somewhere in the snippet.
func (r *reader) has(directive string) bool {
	return strings.Contains(strings.Join(strings.Fields(r.Text), " "), directive)
}

// ofSubFilter is for the options of sub_filter.
func (r *reader) ofSubFilter(n *node, _ scope) {
	switch n.arguments() {
	case "off", "on", "text/html":
		r.needlessFor(n, "sluice.io/sub-filter has it by itself")
	default:
		r.leave(n, "sluice.io/sub-filter changes text/html only")
	}
}

// flagged matches a target of proxy_cookie_path that only adds flags to cookies.
var flagged = regexp.MustCompile(`^(?:/|\$[01]|/\$1)((?:; *[A-Za-z]+(?:=[A-Za-z]+)?)+);?$`)

// cookiePath replaces proxy_cookie_path.
func (r *reader) cookiePath(n *node, at scope) {
	from, to := n.argument(1), n.argument(2)
	if m := flagged.FindStringSubmatch(strings.TrimSpace(to)); m != nil && (from == "/" || strings.HasPrefix(from, "~")) {
		flags, ok := cookieFlags("* " + strings.Join(strings.FieldsFunc(m[1], func(c rune) bool { return c == ';' || c == ' ' }), " "))
		if ok {
			r.flags(n, at, flags)
			return
		}
	}
	if len(n.Tokens) == 3 && isPlain(from) && isPlain(to) {
		r.write(n, at, "proxy-cookie-path", from+" "+to)
		return
	}
	r.leave(n, "the annotation proxy-cookie-path does not take this value")
}

// proxyRedirect replaces proxy_redirect.
func (r *reader) proxyRedirect(n *node, at scope) {
	from, to := n.argument(1), n.argument(2)
	switch {
	case len(n.Tokens) == 2 && (from == "off" || from == "default"):
		r.write(n, at, "proxy-redirect-from", from)
	case len(n.Tokens) == 3 && redirectText.MatchString(from) && redirectText.MatchString(to):
		if r.write(n, at, "proxy-redirect-from", from) != nil {
			r.write(n, at, "proxy-redirect-to", to)
		}
	default:
		r.leave(n, "proxy-redirect-from and proxy-redirect-to take one pair of URLs or paths")
	}
}

var redirectText = regexp.MustCompile(`^(?:https?://|/)[A-Za-z0-9.\-_/:]*$`)

// buffers replaces proxy_buffers NUMBER SIZE.
func (r *reader) buffers(n *node, at scope) {
	number, ok := whole(n.argument(1))
	size, sized := size(n.argument(2))
	if !ok || !sized || len(n.Tokens) != 3 {
		r.leave(n, "")
		return
	}
	w := r.write(n, at, "proxy-buffers-number", number)
	switch other := cmp.Or(r.bufferSize, r.Given["proxy-buffer-size"], size); {
	case w != nil && other != size:
		w.step("of buffers with the size of proxy-buffer-size")
	case w != nil:
		r.write(n, at, "proxy-buffer-size", size)
	}
}
