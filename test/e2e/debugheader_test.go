package e2e

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"sluice/internal/debugapi"
)

const debugToken = "0123456789abcdef0123"

// debugSecret has the token.
const debugSecret = "apiVersion: v1\nkind: Secret\nmetadata: {name: debug, namespace: default}\nstringData: {token: " + debugToken + "}\n---\n"

// decided asks a URL for its decision, nil if there is none. The backend must not see the token.
func (s *sluice) decided(url string, header http.Header) *debugapi.Decision {
	s.t.Helper()
	got, err := s.ask(http.MethodGet, url, header)
	if err != nil {
		s.t.Fatal(err)
	}
	if got.backend != "" && strings.Contains(strings.ToLower(got.body), "sluice-debug") {
		s.t.Errorf("%s: the backend got the header: %s", url, got.body)
	}
	values := got.header.Values(debugapi.DecisionHeader)
	if len(values) == 0 {
		return nil
	}
	var d debugapi.Decision
	if err := json.Unmarshal([]byte(values[0]), &d); err != nil || len(values) > 1 {
		s.t.Fatalf("%s: %v: %q", url, err, values)
	}
	if d.Status != got.status || d.Seconds < 0 {
		s.t.Errorf("%s: status %d, it says %+v", url, got.status, d)
	}
	d.Seconds = 0
	return &d
}

func asking(values ...string) http.Header { return http.Header{debugapi.DecisionHeader: values} }

// TestDecisionsAreTold to those with the token and an address of the list.
func TestDecisionsAreTold(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web, canary := backend(t, "web"), backend(t, "canary")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web) + service("canary", canary), "debug.yaml": debugSecret,
			"settings.yaml": settings("debug-header-secret: default/debug", "debug-header-cidrs: 127.0.0.1", `use-forwarded-headers: "true"`),
			"a.yaml":        ingress("a", "a.example", []string{"/ Prefix web", "/exact Exact web", "/empty Exact none"}, "ssl-redirect: false"),
			"b.yaml":        ingress("b", "b.example", []string{`/x/(.*)$ ImplementationSpecific web`}, "use-regex: true", "rewrite-target: /y/$1"),
			"canary.yaml":   ingress("canary", "a.example", []string{"/ Prefix canary"}, "canary: true", "canary-by-header: X-Canary"),
			"secure.yaml":   ingress("secure", "c.example", []string{"/ Prefix web"}, "force-ssl-redirect: true"),
		}, "--configmap", "default/config")
		s.waitBackend("http://a.example/", "web")
		s.waitStatus("http://c.example/", http.StatusPermanentRedirect)
		at, other := "127.0.0.1:"+strconv.Itoa(portOf(web)), "127.0.0.1:"+strconv.Itoa(portOf(canary))
		toCanary := asking(debugToken)
		toCanary.Set("X-Canary", "always")
		for _, c := range []struct {
			url    string
			header http.Header
			want   debugapi.Decision
		}{
			{"http://a.example/some/%C3%A4?q=1", asking(debugToken), debugapi.Decision{
				Host: "a.example", Location: "/", Object: "Ingress default/a", Path: "/", URI: "/some/ä?q=1", Backend: "default/web/80", Endpoint: at, UpstreamStatus: "200", Status: 200}},
			{"http://a.example/exact", asking(debugToken), debugapi.Decision{
				Host: "a.example", Modifier: "=", Location: "/exact", Object: "Ingress default/a", Path: "/exact", URI: "/exact", Backend: "default/web/80", Endpoint: at, UpstreamStatus: "200", Status: 200}},
			{"http://a.example/", toCanary, debugapi.Decision{
				Host: "a.example", Location: "/", Object: "Ingress default/a", Path: "/", URI: "/", Backend: "default/web/80", Endpoint: other, UpstreamStatus: "200", Canary: "default-canary-80", Status: 200}},
			{"http://b.example/x/1", asking(debugToken), debugapi.Decision{
				Host: "b.example", Modifier: "~*", Location: `^/x/(.*)$`, Object: "Ingress default/b", Path: `/x/(.*)$`, URI: "/y/1", Backend: "default/web/80", Endpoint: at, UpstreamStatus: "200", Status: 200}},
			{"http://b.example/nothing", asking(debugToken), debugapi.Decision{Host: "b.example", Location: "/", Object: "Ingress default/b", Status: 404}},
			{"http://c.example/", asking(debugToken), debugapi.Decision{Host: "c.example", Status: 308}},
			{"http://a.example/empty", asking(debugToken), debugapi.Decision{
				Host: "a.example", Modifier: "=", Location: "/empty", Object: "Ingress default/a", Path: "/empty", URI: "/empty", Backend: "default/none/80", Status: 503}},
			{"http://nobody.example/", asking(debugToken), debugapi.Decision{Host: "_", Location: "/", Status: 404}},
		} {
			got := s.decided(c.url, c.header)
			if got == nil {
				t.Errorf("%s: there is no decision", c.url)
				continue
			}
			got.Backend, _, _ = strings.Cut(got.Backend, "~") // the hash of a split
			if c.want.Host != "a.example" && c.want.Endpoint == "" || c.want.Location == "/" {
				got.Modifier, got.Location = c.want.Modifier, c.want.Location // they differ with the other paths of a host
			}
			if *got != c.want {
				t.Errorf("%s: got  %+v\nwant %+v", c.url, *got, c.want)
			}
		}
		outside := asking(debugToken)
		outside.Set("X-Forwarded-For", "192.0.2.1")
		for name, header := range map[string]http.Header{
			"no token": {}, "a wrong token": asking(debugToken + "x"), "the hash": asking(strings.Repeat("0", 64)), "an empty one": asking(""),
			"twice": asking(debugToken, debugToken), "twice, one wrong": asking(debugToken, "x"), "a list": asking(debugToken + ", " + debugToken), "an address outside": outside,
			"with underscores": {"X_Sluice_Debug": {debugToken}},
		} {
			if got := s.decided("http://a.example/", header); got != nil {
				t.Errorf("%s: got %+v", name, got)
			}
		}
		if conf := s.view("/conf"); strings.Contains(conf, debugToken) || !strings.Contains(conf, "header_filter_by_lua_file") {
			t.Error("nginx.conf has the token, or nothing of the header")
		}
	})
}

// TestDecisionsAreOffByDefault: the header means nothing, and goes to backends as any other.
func TestDecisionsAreOffByDefault(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, oneHost(web))
		s.waitBackend("http://a.example/", "web")
		got, err := s.ask(http.MethodGet, "http://a.example/", asking("hello"))
		if err != nil || got.header.Get(debugapi.DecisionHeader) != "" || !strings.Contains(got.body, "hello") {
			t.Errorf("%v: %+v", err, got)
		}
		for _, word := range []string{"header_filter_by_lua", "$decision", "debug_client", debugapi.DecisionHeader} {
			if strings.Contains(s.view("/conf"), word) {
				t.Errorf("nginx.conf has %s", word)
			}
		}
	})
}
