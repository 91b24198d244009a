package e2e

import (
	"net/http"
	"strings"
	"testing"
)

// TestStatus: only the addresses of the settings see nginx's counters, on unknown hosts
// only, and no header makes a client one of them.
func TestStatus(t *testing.T) {
	for name, c := range map[string]struct {
		config []string
		header http.Header
		status int
	}{
		"the default":               {status: 200},
		"other addresses":           {config: []string{`nginx-status-ipv4-whitelist: "192.0.2.0/24"`}, status: 403},
		"an invalid list":           {config: []string{`nginx-status-ipv4-whitelist: "everyone"`}, status: 403},
		"an empty list":             {config: []string{`nginx-status-ipv4-whitelist: ""`}, status: 403},
		"a forged client":           {config: []string{`nginx-status-ipv4-whitelist: "192.0.2.7"`, `use-forwarded-headers: "true"`}, header: http.Header{"X-Forwarded-For": {"192.0.2.7"}}, status: 403},
		"a client behind a proxy":   {config: []string{`use-forwarded-headers: "true"`}, header: http.Header{"X-Forwarded-For": {"192.0.2.7"}}, status: 403},
		"a proxy itself":            {config: []string{`use-forwarded-headers: "true"`}, status: 200},
		"proxy and client allowed":  {config: []string{`nginx-status-ipv4-whitelist: "192.0.2.7,127.0.0.1"`, `use-forwarded-headers: "true"`}, header: http.Header{"X-Forwarded-For": {"192.0.2.7"}}, status: 200},
		"a forged header by itself": {config: []string{`nginx-status-ipv4-whitelist: "192.0.2.7"`}, header: http.Header{"X-Real-Ip": {"192.0.2.7"}}, status: 403},
	} {
		t.Run(name, func(t *testing.T) {
			oneNginx(t, func(t *testing.T, root string) {
				manifests := oneHost(backend(t, "web"))
				manifests["config.yaml"] = settings(c.config...)
				s := start(t, root, manifests, "--configmap", "default/config")
				s.waitBackend("http://a.example/nginx_status", "web")
				for _, url := range []string{"http://nobody.example/nginx_status", "https://nobody.example/nginx_status"} {
					got, err := s.ask(http.MethodGet, url, c.header)
					if err != nil || got.status != c.status || strings.HasPrefix(got.body, "Active connections:") != (c.status == 200) {
						t.Errorf("%s: %d %q, %v; want %d", url, got.status, got.body, err, c.status)
					}
				}
				if got, err := s.get("http://nobody.example/nginx_status/x"); err != nil || got.status != 404 {
					t.Errorf("below it: %d, %v", got.status, err)
				}
			})
		})
	}
}

// TestStatusBesidePROXY: an address in a PROXY header of anybody is not believed.
func TestStatusBesidePROXY(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		manifests := oneHost(backend(t, "web"))
		manifests["config.yaml"] = settings(`use-proxy-protocol: "true"`, `nginx-status-ipv4-whitelist: "192.0.2.7"`)
		s := start(t, root, manifests, "--configmap", "default/config")
		_, body, err := s.secured(secure{sni: "nobody.example", host: "nobody.example", path: "/nginx_status", before: "PROXY TCP4 192.0.2.7 192.0.2.1 4444 443\r\n"})
		if err != nil || !strings.HasPrefix(body, "HTTP/1.1 403") {
			t.Errorf("%q, %v", body, err)
		}
	})
}
