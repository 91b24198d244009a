package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// TestForwardedHeadersWithUnderscores: a proxy sets X-Forwarded-Host and the like, but can pass on an
// X_Forwarded_Host of a client. nginx gives both by one variable.
func TestForwardedHeadersWithUnderscores(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", backend(t, "web")), "p.yaml": ingress("p", "p.example", []string{"/ Prefix web"}, "ssl-passthrough: true"),
			"a.yaml": ingress("a", "a.example", []string{"/ Prefix web"}),
			"b.yaml": ingress("b", "b.example", []string{"/ Prefix web"}, "force-ssl-redirect: true"),
			"c.yaml": ingress("c", "c.example", []string{"/ Prefix web"}, "whitelist-source-range: 198.51.100.9"),
			"settings.yaml": settings(`use-forwarded-headers: "true"`, `proxy-real-ip-cidr: "127.0.0.0/8"`, `enable-underscores-in-headers: "true"`,
				"forwarded-for-header: X-Client-Is", `block-cidrs: "203.0.113.0/24"`),
		}, "--configmap", "default/config", "--enable-ssl-passthrough")
		s.waitBackend("http://a.example/", "web")
		for _, c := range []struct {
			host         string
			sent, forged map[string]string
			status       int
			name, want   string // a header that the backend gets
		}{
			{"a", nil, map[string]string{"X_Forwarded_Host": "evil.example"}, 200, "X-Forwarded-Host", "a.example"},
			{"a", nil, map[string]string{"x-forwarded_HOST": "evil.example", "X_Forwarded-Port": "9"}, 200, "X-Forwarded-Host", "a.example"},
			{"a", map[string]string{"X-Forwarded-Host": "own.example"}, map[string]string{"X_Forwarded_Host": "evil.example"}, 200, "X-Forwarded-Host", "own.example"},
			{"b", nil, map[string]string{"X_Forwarded_Proto": "https"}, 308, "", ""},
			{"b", map[string]string{"X-Forwarded-Proto": "https"}, nil, 200, "X-Forwarded-Proto", "https"},
			{"c", nil, map[string]string{"X_Client_Is": "198.51.100.9"}, 403, "", ""},
			{"c", map[string]string{"X-Client-Is": "198.51.100.9"}, map[string]string{"X_Client_Is": "192.0.2.1"}, 200, "X-Real-Ip", "198.51.100.9"},
			{"c", map[string]string{"X-Client-Is": "203.0.113.9"}, map[string]string{"X_Client_Is": "198.51.100.9"}, 403, "", ""},
			{"a", map[string]string{"X-Client-Is": "203.0.113.9"}, map[string]string{"X_Client_Is": "198.51.100.9"}, 403, "", ""},
			{"a", map[string]string{"X_Own": "kept"}, nil, 200, "X_own", "kept"},
		} {
			for _, scheme := range []string{"http", "https"} {
				if scheme == "https" && c.status == 308 {
					continue
				}
				header := http.Header{}
				for _, given := range []map[string]string{c.sent, c.forged} {
					for name, value := range given {
						header[name] = []string{value} // Set would write it otherwise
					}
				}
				got, err := s.ask(http.MethodGet, scheme+"://"+c.host+".example/", header)
				var echoed struct{ Header map[string][]string }
				_ = json.Unmarshal([]byte(got.body), &echoed) // the body of an error is no JSON
				if value := strings.Join(echoed.Header[c.name], ", "); err != nil || got.status != c.status || value != c.want {
					t.Errorf("%s: %v beside %v: %d, %s %q, %v; want %d, %q", c.host, c.forged, c.sent, got.status, c.name, value, err, c.status, c.want)
				}
			}
		}
	})
}
