package injection

import (
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net"
	"regexp"
	"strings"
	"testing"

	"sluice/test/kit"
)

// speaking are annotations that put parts of the request into headers, as far as
// they may, by the name of the Ingress.
var speaking = map[string]map[string]string{
	"vhost":  {"upstream-vhost": "$best_http_host.$http_x.$arg_x.$cookie_x.$args.$request_uri.${server_name}"},
	"uri":    {"upstream-vhost": "x$uri"},
	"sni":    {"upstream-vhost": "x$ssl_server_name"},
	"prefix": {"use-regex": "true", "rewrite-target": "/$2", "x-forwarded-prefix": "/$2$uri$http_x$arg_x$remote_user$ssl_server_name"},
	"named":  {"use-regex": "true", "rewrite-target": "/$2", "x-forwarded-prefix": "/$rest"},
	"target": {"use-regex": "true", "rewrite-target": "/$2$remote_user$ssl_server_name$uri$http_x$arg_x"},
	"root":   {"app-root": "/r$request_uri$arg_x$http_x$cookie_x"},
	"moved":  {"permanent-redirect": "/m"},
	"secure": {"force-ssl-redirect": "true"},
	"cors":   {"enable-cors": "true", "cors-allow-origin": "https://*.a.example, null"},
}

// splitting are URIs and headers with line ends in all ways to write them.
var splitting = []struct{ uri, headers string }{
	{"/p/%0d%0aX-Injected:%201", ""}, {"/p/%0aX-Injected:%201", ""}, {"/p/%0dX-Injected:%201", ""}, {"/%0d%0aX-Injected:%201%0d%0a%0d%0a", ""}, {"//%0d%0aX-Injected:%201", ""},
	{"/?x=%0d%0aX-Injected:%201", ""}, {"/p/?%0d%0aX-Injected:%201", ""}, {"/p/%250d%250aX-Injected:%201", ""}, {"/p/%E5%98%8A%E5%98%8DX-Injected:%201", ""}, {"/p/%c2%85X-Injected:%201", ""},
	{"/p/\rX-Injected:", ""}, {"/p/x\x0bX-Injected:", ""},
	{"/p/x", "X: %0d%0aX-Injected: 1\r\n"}, {"/p/x", "X: a\rX-Injected: 1\r\n"}, {"/", "X: a\x0b\x0cX-Injected: 1\r\n"}, {"/", "Cookie: x=%0d%0aX-Injected: 1\r\n"},
	{"/p/x", "Origin: https://a.a.example%0d%0aX-Injected: 1\r\n"}, {"/p/x", "Origin: https://a.a.example\rX-Injected: 1\r\n"},
	{"/p/x", "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("u HTTP/1.1\r\nX-Injected: 1\r\nY: z:pw")) + "\r\n"},
	{"/p/x", "X-Forwarded-Host: evil%0d%0aX-Injected: 1\r\nX-Forwarded-Proto: https%0d%0aX-Injected: 1\r\nX-Forwarded-Port: 1%0d%0aX-Injected: 1\r\n"},
	{"/", "X-Forwarded-Host: evil\rX-Injected: 1\r\n"},
}

// A line end begins no header of its own, neither in an answer nor in what a
// backend gets, although nginx puts variables and captures into headers as they
// are ("HTTP splitting", which checkers of nginx.conf know).
func TestLineEndsBeginNoHeader(t *testing.T) {
	eachNginx(t, func(t *testing.T, installed kit.Nginx) {
		objects := withData(objectsOf(t, fronted), map[string]string{"use-forwarded-headers": "true"})
		for name, annotations := range speaking {
			path := "/"
			if annotations["use-regex"] != "" {
				path = "/p(/|$)(?<rest>[^?]*)"
			}
			ing := simple(name, path, annotations)
			if path != "/" {
				setPath(ing, "ImplementationSpecific", path)
			}
			objects.Ingresses = append(objects.Ingresses, ing)
		}
		s := newSite(t, installed)
		s.backend = transcript
		s.serve(t, objects)
		answered := 0
		for name := range speaking {
			for _, part := range splitting {
				request := spoof{headers: part.headers}.request(name+".example", part.uri)
				got := s.exchange(t, request)
				if got.status > 0 && got.status != 400 {
					answered++
				}
				got.notSplit(t, request)
				got = s.overTLS(t, "a.example\r\nX-Injected: 1", request)
				got.notSplit(t, request)
			}
		}
		if answered < 100 {
			t.Errorf("only %d requests were answered", answered)
		}
	})
}

// injectedLine is a line of the backend's that a client made.
var injectedLine = regexp.MustCompile(`(?mi)^x-injected|\r[^\n]`)

// notSplit checks that no header of an answer, and none that the backend got, is
// one that a client made.
func (a answer) notSplit(t *testing.T, request string) {
	t.Helper()
	if injectedLine.MatchString(a.body) {
		t.Errorf("%q: the backend got %q", request, a.body)
	}
	for name, values := range a.header {
		if name == "X-Injected" || strings.ContainsAny(strings.Join(values, ""), "\r\n") {
			t.Errorf("%q: the answer has the header %s: %q", request, name, values)
		}
	}
}

// overTLS sends a request over HTTPS with a name that the client says.
func (s *site) overTLS(t *testing.T, sni, request string) answer {
	t.Helper()
	connection, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.Environment.HTTPSPort))
	if err != nil {
		t.Fatal(err)
	}
	return say(t, tls.Client(connection, &tls.Config{ServerName: sni, InsecureSkipVerify: true}), request)
}

// A header that nginx sets for the backends is not taken off by naming it in
// Connection (Traefik's CVE-2024-45410 and CVE-2021-32813).
func TestCVE2024_45410(t *testing.T) {
	eachNginx(t, func(t *testing.T, installed kit.Nginx) {
		s := serving(t, installed, frontedObjects(t, nil))
		for _, name := range []string{"open", "own"} {
			for _, word := range []string{"close", "keep-alive", "upgrade"} {
				list := "Connection: " + word + ", Host, X-Real-IP, X-Forwarded-For, X-Forwarded-Host, X-Forwarded-Port, X-Forwarded-Proto, X-Forwarded-Scheme, X-Scheme\r\n"
				s.toldTheTruth(t, name, s.exchange(t, fmt.Sprintf("GET / HTTP/1.1\r\nHost: %s.example\r\nUpgrade: websocket\r\n%s\r\n", name, list)))
			}
		}
	})
}
