package e2e

import (
	"net/http"
	"strings"
	"testing"
)

// TestBlockedBehindProxies: block-cidrs counts for the client that nginx sees, whether the PROXY
// header names it or a header of a trusted proxy, also where both are in use: Lua copies the
// header then, but after nginx has evaluated what blocks.
func TestBlockedBehindProxies(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := headersBackend(t)
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "settings.yaml": settings(),
			"a.yaml": ingress("a", "a.example", []string{"/ Prefix web"}),
		}, "--configmap", "default/config")
		const blocked, passed = "403 Forbidden", "X-Real-Ip: "
		const some, everybody = `proxy-real-ip-cidr: "127.0.0.0/8,192.0.2.1"`, `proxy-real-ip-cidr: "0.0.0.0/0"`
		for _, c := range []struct {
			header string
			data   []string
			// sent is for a header of a client, chain for one that names a client before the
			// blocked one, and own for a header that a blocked client sends.
			sent, chain, own string
		}{
			{"X-Forwarded-For", []string{some}, passed, passed, blocked},
			{"X-Forwarded-For", []string{some, `use-forwarded-headers: "true"`}, blocked, blocked, blocked},
			{"X-Client", []string{some, `use-forwarded-headers: "true"`, "forwarded-for-header: X-Client"}, blocked, blocked, blocked},
			{"X-Forwarded-For", []string{everybody, `use-forwarded-headers: "true"`}, blocked, passed, passed},
		} {
			before := s.reloads()
			s.write("settings.yaml", settings(append(c.data, `use-proxy-protocol: "true"`, `block-cidrs: "203.0.113.0/24,198.51.100.0/24,2001:db8::/32"`)...))
			ask := func(from, sent string) string {
				if sent != "" {
					sent = c.header + ": " + sent + "\r\n"
				}
				return s.say("PROXY TCP4 "+from+" 192.0.2.99 4444 80\r\n", sent)
			}
			eventually(t, "a reload", func() bool { return s.reloads() > before })
			for _, r := range []struct{ from, sent, want string }{
				{"192.0.2.1", "", passed}, {"192.0.2.1", "192.0.2.50", passed}, {"192.0.2.1", "198.51.100.9:4444", c.sent},
				{"192.0.2.1", "[2001:db8::1]:4444", c.sent}, {"192.0.2.1", "2001:db8::1", c.sent},
				{"192.0.2.1", "192.0.2.50, 198.51.100.9", c.chain}, {"203.0.113.20", "", blocked}, {"203.0.113.20", "192.0.2.50", c.own},
			} {
				if got := ask(r.from, r.sent); !strings.Contains(got, r.want) {
					t.Errorf("%q: from %s with %q: %q, want %q", c.data, r.from, r.sent, got, r.want)
				}
			}
		}
	})
}

// TestBlockedBesidePassthrough: block-cidrs counts for the client that a header of a trusted proxy
// names, also where HTTPS comes by the socket that TLS passed through needs.
func TestBlockedBesidePassthrough(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", backend(t, "web")), "a.yaml": ingress("a", "a.example", []string{"/ Prefix web"}),
			"p.yaml":        ingress("p", "p.example", []string{"/ Prefix web"}, "ssl-passthrough: true"),
			"settings.yaml": settings(`use-forwarded-headers: "true"`, `proxy-real-ip-cidr: "127.0.0.0/8"`, `block-cidrs: "198.51.100.0/24"`),
		}, "--configmap", "default/config", "--enable-ssl-passthrough")
		s.waitBackend("http://a.example/", "web")
		for _, url := range []string{"http://a.example/", "https://a.example/"} {
			for from, status := range map[string]int{"": 200, "192.0.2.1": 200, "198.51.100.9": 403, "192.0.2.1, 198.51.100.9": 403} {
				got, err := s.ask(http.MethodGet, url, http.Header{"X-Forwarded-For": {from}})
				if err != nil || got.status != status {
					t.Errorf("%s for %q: %d, %v; want %d", url, from, got.status, err, status)
				}
			}
		}
	})
}
