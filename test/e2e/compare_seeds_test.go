package e2e

import (
	"net/http"
	"strings"
)

// seeds are 50 differences between two controllers.
func seeds() []seeded {
	return append(append(append(pathSeeds(), redirectSeeds()...), backendSeeds()...), append(headerSeeds(), hostSeeds()...)...)
}

func status(code int) func(*http.Response) {
	return func(a *http.Response) { a.StatusCode = code; a.Header.Del("Location") }
}

func without(header string) func(*http.Response) {
	return func(a *http.Response) { a.Header.Del(header) }
}

func with(header, value string) func(*http.Response) {
	return func(a *http.Response) { a.Header.Set(header, value) }
}

// has selects requests whose line has a text.
func has(text string) func(*http.Request) bool {
	return func(q *http.Request) bool { return strings.Contains(q.RequestURI, text) }
}

func ends(text string) func(*http.Request) bool {
	return func(q *http.Request) bool { return strings.HasSuffix(q.RequestURI, text) }
}

// to makes a request one for another path.
func to(path string) func(*http.Request) {
	return func(q *http.Request) { q.RequestURI = path }
}

func plain(q *http.Request) bool { return q.TLS == nil }

func secured(q *http.Request) bool { return q.TLS != nil }

// pathSeeds are differences in what a path takes.
func pathSeeds() []seeded {
	return []seeded{
		{name: "p01", after: status(404), when: ends("/p01"), want: "Status"},
		{name: "p02", after: status(503), want: "Status"},
		{name: "p03", after: status(200), when: has("/P03"), want: "Status"},
		{name: "p04", after: status(404), when: has("/p04/sluice"), want: "Status"},
		{name: "p05", after: status(200), when: ends("/p05x"), want: "Status"},
		{name: "p06", after: status(404), when: func(q *http.Request) bool { return strings.HasPrefix(q.RequestURI, "//") }, want: "Status"},
		{name: "p07", paths: []string{"/p07/end Prefix web"}, after: status(404), when: has("en%64"), want: "Status"},
		{name: "p08", paths: []string{"/p08/end Prefix web"}, after: status(400), when: has("%2Fend"), want: "Status"},
		{name: "p09", after: status(404), when: has(".."), want: "Status"},
		{name: "p10", after: status(405), when: func(q *http.Request) bool { return q.Method == "HEAD" }, want: "Status"},
		{name: "p11", after: status(404), when: has("?"), want: "Status"},
		{name: "p12", after: status(404), when: ends("/p12/"), want: "Status"},
		{name: "p13", paths: []string{"/p13/ Prefix web"}, after: status(404), when: ends("/p13"), want: "Status"},
		{name: "p14", paths: []string{"/p14 Exact web"}, after: status(200), when: ends("/p14/"), want: "Status"},
		{name: "p15", after: status(404), when: has("p15//"), want: "Status"},
		{name: "p16", after: func(*http.Response) { panic(http.ErrAbortHandler) }, when: ends("/p16"), want: "NoAnswer"},
		{name: "p17", paths: []string{"/p17/v[0-9]+/x ImplementationSpecific web"}, annotations: []string{"use-regex: true"}, host: "pattern.example",
			when: has("/p17/v"), after: status(404), want: "Status"},
		{name: "p18", paths: []string{"/p18/[a-z]+$ ImplementationSpecific web"}, annotations: []string{"use-regex: true"}, host: "nearly.example",
			when: ends("/sluice-compare"), after: status(200), want: "Status"},
	}
}

// redirectSeeds are differences in redirects.
func redirectSeeds() []seeded {
	location := func(change func(string) string) func(*http.Response) {
		return func(a *http.Response) {
			if to := a.Header.Get("Location"); to != "" {
				a.Header.Set("Location", change(to))
			}
		}
	}
	cut := func(url string) string { before, _, _ := strings.Cut(url, "?"); return before }
	return []seeded{
		{name: "r01", after: func(a *http.Response) { a.StatusCode = 301; a.Header.Set("Location", "https://most.example/r01/") }, when: ends("/r01"), want: "Status"},
		{name: "r02", after: func(a *http.Response) { a.StatusCode = 307 }, when: plain, want: "Status"},
		{name: "r03", after: status(200), when: plain, want: "Status"},
		{name: "r04", after: location(cut), when: plain, want: "Redirect"},
		{name: "r05", annotations: []string{"permanent-redirect: https://other.example/r05"}, after: location(func(string) string { return "https://else.example/r05" }),
			when: secured, want: "Redirect"},
		{name: "r06", host: "root.example", paths: []string{"/app Prefix web"}, annotations: []string{"app-root: /app"},
			after: location(func(to string) string { return strings.Replace(to, "/app", "/old", 1) }), want: "Redirect"},
		{name: "r07", host: "www.rooted.example", paths: []string{"/ Prefix web"}, annotations: []string{"from-to-www-redirect: true"},
			when:  func(q *http.Request) bool { return strings.HasPrefix(q.Host, "rooted") },
			after: status(404), want: "Status"},
	}
}

// backendSeeds are differences in who answers, and in what it is asked for.
func backendSeeds() []seeded {
	always := func(q *http.Request) bool { return q.Header.Get("X-Canary") == "always" }
	never := func(q *http.Request) bool { return q.Header.Get("X-Canary") == "never" }
	cookie := func(q *http.Request) bool { return q.Header.Get("Cookie") == "pick=always" }
	return []seeded{
		{name: "b01", after: with("X-Backend", "other"), want: "Backend"},
		{name: "b02", after: with("X-Backend", "other"), when: ends("/b02/"), want: "Backend"},
		{name: "b03", when: always, after: with("X-Backend", "web"), want: "Backend"},
		{name: "b04", when: never, after: with("X-Backend", "canary"), want: "Backend"},
		{name: "b05", when: cookie, after: with("X-Backend", "web"), want: "Backend"},
		{name: "b06", when: func(q *http.Request) bool { return q.Header.Get("X-Canary") == "green" }, after: with("X-Backend", "web"), want: "Backend"},
		{name: "b07", when: func(q *http.Request) bool { return secured(q) && has("?")(q) }, before: func(q *http.Request) { q.RequestURI, _, _ = strings.Cut(q.RequestURI, "?") }, want: "Body"},
		{name: "b08", host: "told.example", paths: []string{"/ Prefix web"}, annotations: []string{"server-alias: other-host.example"},
			when:   func(q *http.Request) bool { return q.Host == "told.example" },
			before: func(q *http.Request) { q.Host = "other-host.example" }, want: "Body"},
		{name: "b09", before: to("/b09/rewritten"), when: func(q *http.Request) bool { return secured(q) && ends("/b09/sluice-compare")(q) }, want: "Body"},
		{name: "b10", host: "gone.example", paths: []string{"/ Prefix web"}, when: ends("/sluice-compare"), before: to("/"), want: "Body"},
	}
}

// headerSeeds are differences in headers and cookies.
func headerSeeds() []seeded {
	origin := func(q *http.Request) bool { return q.Header.Get("Origin") == "https://app.example" }
	cors := []string{"enable-cors: true", "cors-allow-origin: https://app.example"}
	return []seeded{
		{name: "h01", after: without("Strict-Transport-Security"), want: "Header Strict-Transport-Security"},
		{name: "h02", after: with("Strict-Transport-Security", "max-age=1"), when: secured, want: "Header Strict-Transport-Security"},
		{name: "h03", annotations: cors, when: origin, after: without("Access-Control-Allow-Origin"), want: "Header Access-Control-Allow-Origin"},
		{name: "h04", annotations: cors, when: origin, after: with("Access-Control-Allow-Methods", "GET"), want: "Header Access-Control-Allow-Methods"},
		{name: "h05", after: with("X-Powered-By", "standin"), want: "Header X-Powered-By"},
		{name: "h06", after: without("X-Frame-Options"), want: "Header X-Frame-Options"},
		{name: "h07", when: ends("/h07"), after: func(a *http.Response) {
			if a.StatusCode == 200 {
				a.Header.Set("Content-Security-Policy", "default-src *")
			}
		}, want: "Header Content-Security-Policy"},
		{name: "h08", after: func(a *http.Response) {
			if a.StatusCode == 200 {
				a.Header.Set("Set-Cookie", "session=other; Path=/; HttpOnly")
			}
		}, want: "Cookie session"},
		{name: "h09", after: without("Set-Cookie"), when: ends("/h09/"), want: "Cookie session"},
		{name: "h10", host: "packed.example", paths: []string{"/ Prefix web"}, when: func(q *http.Request) bool { return q.Header.Get("Accept-Encoding") != "" },
			after: without("Content-Encoding"), want: "Header Content-Encoding"},
	}
}

// hostSeeds are differences in hosts and their certificates.
func hostSeeds() []seeded {
	root := []string{"/ Prefix web"}
	return []seeded{
		{name: "n01", host: "*.wild.example", paths: root, when: func(q *http.Request) bool { return strings.Contains(q.Host, "two.") }, after: status(200), want: "Status"},
		{name: "n02", host: "aliased.example", paths: root, annotations: []string{"server-alias: alias.aliased.example"},
			when: func(q *http.Request) bool { return strings.HasPrefix(q.Host, "alias.") }, after: status(404), want: "Status"},
		{name: "n03", host: "upper.example", paths: root, when: func(q *http.Request) bool { return q.Host == "UPPER.EXAMPLE" }, after: status(404), want: "Status"},
		{name: "n04", host: "cert.example", paths: root, want: "Certificate"},
		{name: "n05", host: "refused.example", paths: root, want: "NoAnswer"},
	}
}
