package explain

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"sluice/internal/model"
	"sluice/internal/route"
)

// Request is the request of a client.
type Request struct {
	Method string `json:"method"`
	// Scheme is http or https.
	Scheme string `json:"scheme"`
	// Host is the header Host, with a port if the URL has one.
	Host string `json:"host"`
	// URI is that of the request line: path and query.
	URI string `json:"uri"`
	// Headers are the other headers.
	Headers []route.Header `json:"headers,omitempty"`
}

// String gives "GET https://shop.example/cart?id=1".
func (r Request) String() string { return r.Method + " " + r.url() }

func (r Request) url() string { return r.Scheme + "://" + r.Host + r.URI }

var (
	methodPattern = regexp.MustCompile(`^[A-Z_-]{1,32}$`)
	hostPattern   = regexp.MustCompile(`^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_][A-Za-z0-9._-]*)(?::([0-9]{1,5}))?$`)
)

// httpsPort makes a URL without a scheme mean HTTPS.
const httpsPort = 443

// ParseRequest reads a method and a URL. It does not change the path, because nginx
// normalizes it.
func ParseRequest(method, url string) (Request, error) {
	if !methodPattern.MatchString(method) {
		return Request{}, fmt.Errorf("METHOD: want it in capitals, such as GET (got %s)", model.Quoted(method))
	}
	wrong := func(want string) (Request, error) {
		return Request{}, fmt.Errorf("URL: want %s (got %s)", want, model.Quoted(url))
	}
	scheme, rest := cutScheme(url)
	if scheme != "" && scheme != "http" && scheme != "https" {
		return wrong("http://host/path, https://host/path or host/path")
	}
	r := Request{Method: method, Scheme: scheme, Host: rest, URI: "/"}
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		r.Host, r.URI = rest[:end], rest[end:]
	}
	if !strings.HasPrefix(r.URI, "/") {
		r.URI = "/" + r.URI
	}
	parts := hostPattern.FindStringSubmatch(r.Host)
	if parts == nil || len(parts[1]) > 253 || strings.Contains(parts[1], "..") {
		return wrong("http://host/path, https://host/path or host/path, with a host of letters, digits, -, _ and . and maybe a port")
	}
	port, _ := strconv.Atoi(parts[2]) // hostPattern allows digits only
	if parts[2] != "" && (port < 1 || port > 65535) {
		return wrong("a port from 1 to 65535")
	}
	if r.Scheme == "" {
		r.Scheme = "http"
		if port == httpsPort {
			r.Scheme = "https"
		}
	}
	return r, nil
}

var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,200}$")

// ParseHeader reads a header such as "X-Canary: always". Like nginx, it keeps tabs at the ends
// of the value.
func ParseHeader(text string) (route.Header, error) {
	name, value, found := strings.Cut(text, ":")
	value = strings.Trim(value, " ")
	switch {
	case !found || !headerName.MatchString(name):
		return route.Header{}, fmt.Errorf(`want "NAME: VALUE" (got %s)`, model.Quoted(text))
	case strings.EqualFold(name, "Host"):
		return route.Header{}, fmt.Errorf("want no Host, which the URL has (got %s)", model.Quoted(text))
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
		return route.Header{}, fmt.Errorf("want a value without control characters (got %s)", model.Quoted(text))
	}
	return route.Header{Name: name, Value: value}, nil
}

// cutScheme splits a URL after the scheme. A "://" in the path or query is not one.
func cutScheme(url string) (scheme, rest string) {
	before, after, found := strings.Cut(url, "://")
	if !found || strings.ContainsAny(before, "/?#") {
		return "", url
	}
	return strings.ToLower(before), after
}
