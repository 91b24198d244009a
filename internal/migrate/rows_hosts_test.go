package migrate

import (
	"strings"
	"testing"
)

// shop is an Ingress with a path of host shop.example, and one with all that differs.
const shop = `---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: NAME, namespace: default, creationTimestamp: "2026-01-0AGE", annotations: {ANNOTATIONS}}
spec:
  ingressClassName: nginx
  EXTRA
  rules:
  - host: "HOST"
    http: {paths: [{path: PATH, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
`

// shopAs fills in what differs.
func shopAs(name, age, annotations, host, path, extra string) string {
	return strings.NewReplacer("NAME", name, "AGE", age+"T00:00:00Z", "ANNOTATIONS", annotations, "HOST", host, "PATH", path, "EXTRA", extra).Replace(shop)
}

// TestRowsOfSeveralIngresses: rows that depend on the other Ingresses of a host, or on more than
// annotations.
func TestRowsOfSeveralIngresses(t *testing.T) {
	t.Parallel()
	const (
		canary = `nginx.ingress.kubernetes.io/canary: "true", nginx.ingress.kubernetes.io/canary-weight: "10"`
		www    = `nginx.ingress.kubernetes.io/from-to-www-redirect: "true"`
		root   = `nginx.ingress.kubernetes.io/app-root: /home`
		cookie = `nginx.ingress.kubernetes.io/affinity: cookie`
		behind = "defaultBackend: {service: {name: web, port: {number: 80}}}"
	)
	older := shopAs("older", "1", "", "shop.example", "/a", "")
	for name, test := range map[string]struct {
		row, manifests string
		want           bool
	}{
		"a canary of a Service with one path":      {"canary-paths", older + shopAs("canary", "2", canary, "shop.example", "/a", ""), false},
		"a canary of a Service with another path":  {"canary-paths", older + shopAs("other", "1", "", "other.example", "/", "") + shopAs("canary", "2", canary, "shop.example", "/a", ""), true},
		"app-root without a path of its own":       {"app-root-lost", older + shopAs("younger", "2", root, "shop.example", "/a", ""), true},
		"app-root with a path":                     {"app-root-lost", older + shopAs("younger", "2", root, "shop.example", "/b", ""), false},
		"the other name of a wildcard host":        {"www-wildcard", shopAs("wild", "1", www, "*.shop.example", "/", ""), true},
		"a cookie at a spec.defaultBackend":        {"cookie-default", shopAs("cookie", "1", cookie, "shop.example", "/a", behind), true},
		"a cookie without a spec.defaultBackend":   {"cookie-default", shopAs("cookie", "1", cookie, "shop.example", "/a", ""), false},
		"a spec.defaultBackend without the cookie": {"cookie-default", shopAs("plain", "1", "", "shop.example", "/a", behind), false},
	} {
		text, _, _ := strings.Cut(around, "---")
		if r := Look(read(t, text+test.manifests), optionsFor(t), Setup{}); hasRow(r, test.row) != test.want {
			t.Errorf("%s: want %s %v: %+v", name, test.row, test.want, r.Ingresses)
		}
	}
}
