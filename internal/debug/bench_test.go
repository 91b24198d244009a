package debug

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// manyIngresses are n Ingresses of one host and three paths each, beside the shop.
func manyIngresses(n int) string {
	var out strings.Builder
	out.WriteString(shopManifests)
	for i := range n {
		fmt.Fprintf(&out, `---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: app-%[1]d, namespace: shop, creationTimestamp: "2026-01-01T00:00:00Z"}
spec:
  ingressClassName: nginx
  rules:
  - host: app-%[1]d.example
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}, {path: /a, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}, {path: /b, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
`, i)
	}
	return out.String()
}

// discard is a ResponseWriter that keeps nothing.
type discard struct {
	io.Writer
	header http.Header
}

func (d discard) Header() http.Header { return d.header }
func (discard) WriteHeader(status int) {
	if status != http.StatusOK {
		panic(status)
	}
}

// BenchmarkViews asks for each view of 10,000 Ingresses.
func BenchmarkViews(b *testing.B) {
	handler := Handler(optionsOf(stateOf(b, manyIngresses(10_000))))
	for _, target := range []string{
		"/conf", "/conf?format=json", "/conf?format=json&limit=200&search=app-5000", "/conf?host=app-5000.example", "/conf?ingress=shop/app-5000", "/backends", "/certs", "/certs?host=shop.example", "/general",
		"/routes", "/routes?host=app-5000.example", "/routes?ingress=shop/app-5000", "/explain?url=https://app-5000.example/a", "/explain?url=https://nobody.example/a",
		"/problems",
	} {
		b.Run(target, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				handler.ServeHTTP(discard{io.Discard, http.Header{}}, httptest.NewRequestWithContext(b.Context(), http.MethodGet, target, http.NoBody))
			}
		})
	}
}
