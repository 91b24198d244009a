package e2e

import (
	"strings"
	"testing"
)

// TestPassthroughOpensNothing: HTTPS to a host that asks to be passed through is
// kept to the rules of all that have a part in it, as plain HTTP is: its own allow
// list, that of a neighbour, a neighbour that is denied, paths of another
// namespace, and the list of the ConfigMap. A wildcard host that is passed through
// takes no name that another host has.
func TestPassthroughOpensNothing(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		const nobody, passes = "whitelist-source-range: 192.0.2.0/24", "ssl-passthrough: true"
		whole := []string{"/ Prefix passed"}
		manifests := passing(t, headersBackend(t))
		manifests["pass.yaml"] += ingress("own", "own.wild.example", whole, passes, nobody) +
			ingress("neighboured", "neighboured.wild.example", whole, passes) + ingress("neighbour", "neighboured.wild.example", []string{"/admin Prefix web"}, nobody) +
			ingress("closing", "closing.wild.example", whole, passes) + ingress("closed", "closing.wild.example", []string{"/admin Prefix web"}, "auth-tls-secret: default/ca") +
			ingress("hosting", "hosting.wild.example", whole, passes) + inNamespace("team", ingress("guest", "hosting.wild.example", []string{"/admin Prefix web"}))
		s := start(t, root, manifests, passingFlags...)
		for host, want := range map[string]string{"own": "403", "neighboured": "400", "closing": "503", "hosting": "400"} {
			// The backend that was to be passed to is spoken to in plain HTTP, which it answers with 400.
			// Certificates are asked for by host, so the whole host "closing" is closed.
			serial, answer, err := s.secured(secure{sni: host + ".wild.example", host: host + ".wild.example", from: "127.0.0.2"})
			if err != nil || serial == 21 || !strings.HasPrefix(answer, "HTTP/1.1 "+want) {
				t.Errorf("%s presents %d (%v), want the certificate of nginx, and %s: %.60s", host, serial, err, want, answer)
			}
		}
		for host, want := range map[string]string{"neighboured": "403", "closing": "503", "hosting": "503"} {
			serial, answer, err := s.secured(secure{sni: host + ".wild.example", host: host + ".wild.example", from: "127.0.0.2", path: "/admin"})
			if err != nil || serial == 21 || !strings.HasPrefix(answer, "HTTP/1.1 "+want) {
				t.Errorf("/admin of %s presents %d (%v), want the certificate of nginx, and %s: %.60s", host, serial, err, want, answer)
			}
		}
		if serial, _, err := s.secured(secure{sni: "any.wild.example", host: "any.wild.example", from: "127.0.0.2"}); serial != 21 {
			t.Errorf("any.wild.example presents %d (%v), want it passed through", serial, err)
		}

		s.write("config.yaml", settings(`whitelist-source-range: "192.0.2.0/24"`))
		eventually(t, "the list of the ConfigMap to hold for HTTPS", func() bool {
			serial, answer, _ := s.secured(secure{sni: "pass.example", host: "pass.example", from: "127.0.0.2"})
			return serial != 21 && strings.HasPrefix(answer, "HTTP/1.1 403")
		})
	})
}
