package compare

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sluice/internal/manifest/decode"
	"sluice/internal/translate"
)

const shop = `
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop, annotations: {nginx.ingress.kubernetes.io/server-alias: "www.shop.example,*.alias.example", nginx.ingress.kubernetes.io/enable-cors: "true", nginx.ingress.kubernetes.io/cors-allow-origin: "https://*.app.example"}}
spec:
  ingressClassName: nginx
  tls: [{hosts: [shop.example], secretName: none}]
  rules:
  - host: shop.example
    http:
      paths:
      - {path: /cart/, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: canary, namespace: shop, annotations: {nginx.ingress.kubernetes.io/canary: "true", nginx.ingress.kubernetes.io/canary-by-header: X-Canary, nginx.ingress.kubernetes.io/canary-by-header-pattern: "^v[0-9]$", nginx.ingress.kubernetes.io/canary-by-cookie: pick}}
spec:
  ingressClassName: nginx
  rules:
  - host: shop.example
    http:
      paths:
      - {path: /cart/, pathType: Prefix, backend: {service: {name: canary, port: {number: 80}}}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: patterns, namespace: shop, annotations: {nginx.ingress.kubernetes.io/use-regex: "true"}}
spec:
  ingressClassName: nginx
  rules:
  - host: "*.shop.example"
    http:
      paths:
      - {path: "/api/v[0-9]+/(a|b)$", pathType: ImplementationSpecific, backend: {service: {name: web, port: {number: 80}}}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: others, namespace: shop}
spec:
  ingressClassName: other
  rules: [{host: other.example}]
`

func coreOf(t *testing.T, manifests string) *Core {
	t.Helper()
	objects, _, err := decode.FromYAML("test.yaml", []byte(manifests))
	if err != nil {
		t.Fatal(err)
	}
	return NewCore(objects, translate.Options{
		ManifestMode: true, IngressClasses: []string{"nginx"}, ControllerClass: "k8s.io/ingress-nginx", AnnotationsPrefix: "nginx.ingress.kubernetes.io", HealthPath: "/healthz", HTTPSPort: 443,
	})
}

var both = Asked{Schemes: []string{"http", "https"}, Methods: []string{"HEAD"}, Seed: 1}

func linesOf(requests []Request) (lines []string) {
	for _, r := range requests {
		lines = append(lines, r.String())
	}
	return lines
}

func TestRequestsOfIngresses(t *testing.T) {
	t.Parallel()
	lines := linesOf(FromIngresses(coreOf(t, shop), both))
	for _, want := range []string{
		"GET http://shop.example/cart/", "GET https://shop.example/cart/", "HEAD https://shop.example/cart/", "GET https://shop.example/cart", "GET http://shop.example/cart",
		"GET https://shop.example/cartx", "GET https://shop.example/cart/sluice-compare", "GET https://shop.example/car", "GET https://shop.example/CART/", "GET https://shop.example/car%74/",
		"GET https://shop.example//cart/", "GET https://shop.example/cart//", "GET https://shop.example/cart%2F", "GET https://shop.example/cart/?a=b&c=%2F+d", "GET https://shop.example/cart/%20",
		"GET https://www.shop.example/cart/", "GET https://sluice-compare.alias.example/cart/", "GET https://SHOP.EXAMPLE/cart/", "GET https://sluice-compare.shop.example/cart/",
		"GET https://shop.example/cart/ (X-Canary: always)", "GET https://shop.example/cart/ (X-Canary: never)",
		"GET https://shop.example/cart/ (Cookie: pick=always)", "GET https://shop.example/cart/ (Origin: https://sluice-compare.app.example)",
		"GET http://unknown.sluice-compare.example/", "GET https://unknown.sluice-compare.example/",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("nobody asks %s", want)
		}
	}
	for text, least := range map[string]int{"(X-Canary: v": 1, "two.sluice-compare.shop.example/api/v": 1, "http://sluice-compare.shop.example/api/v": 20, "other.example": 0} {
		count := 0
		for _, line := range lines {
			if strings.Contains(line, text) {
				count++
			}
		}
		if count < least || least == 0 && count > 0 {
			t.Errorf("%d requests with %q, want at least %d", count, text, least)
		}
	}
	if t.Failed() {
		t.Log(strings.Join(lines, "\n"))
	}
}

// TestRequestsArePlausible holds that the requests for patterns match, or nearly match, and
// that what the text says of them is so.
func TestRequestsArePlausible(t *testing.T) {
	t.Parallel()
	core := coreOf(t, shop)
	counts := map[string]int{}
	for _, r := range FromIngresses(core, both) {
		if !strings.Contains(r.Why, "the pattern") {
			continue
		}
		takes := core.origin(r).rule.Object.Name == "patterns" && !core.origin(r).near
		if says := !strings.Contains(r.Why, "nearly"); says != takes {
			t.Errorf("%s: %s", r, r.Why)
		}
		counts[r.Why]++
	}
	if counts["a path that the pattern matches"] < 4 || counts["a path that the pattern nearly matches"] < 4 {
		t.Errorf("too few: %v", counts)
	}
}

// TestRequestsAreAlwaysTheSame holds that the order of the objects does not change them, and
// that another seed does.
func TestRequestsAreAlwaysTheSame(t *testing.T) {
	t.Parallel()
	documents := strings.Split(shop, "\n---\n")
	slices.Reverse(documents)
	first, second := linesOf(FromIngresses(coreOf(t, shop), both)), linesOf(FromIngresses(coreOf(t, strings.Join(documents, "\n---\n")), both))
	if !slices.Equal(first, second) {
		t.Errorf("the order of objects counts: %d and %d requests", len(first), len(second))
	}
	other := both
	other.Seed = 2
	if slices.Equal(first, linesOf(FromIngresses(coreOf(t, shop), other))) {
		t.Error("the seed does not count")
	}
	slices.Sort(first)
	if all := len(first); len(slices.Compact(first)) != all {
		t.Error("a request is asked twice")
	}
}

// TestWrittenPathsComeFirst holds that a limited number of requests has those for paths as
// they are written.
func TestWrittenPathsComeFirst(t *testing.T) {
	t.Parallel()
	for i, r := range FromIngresses(coreOf(t, shop), both)[:4] {
		if r.Why != "the path as it is written" && !strings.Contains(r.Why, "pattern matches") {
			t.Errorf("request %d: %s: %s", i, r, r.Why)
		}
	}
}

// TestRequestsAreSendable holds that no object makes a request that is more than one.
func TestRequestsAreSendable(t *testing.T) {
	t.Parallel()
	hostile := strings.NewReplacer("/cart/", `"/c X-Evil: 1 ü#?%"`).Replace(shop)
	for _, r := range FromIngresses(coreOf(t, hostile), both) {
		text := r.Method + r.Target + r.Host
		for _, h := range r.Headers {
			text += h.Name + h.Value
		}
		if strings.ContainsAny(text, "\r\n\x00") || strings.ContainsAny(r.Target+r.Host, " \x7f#") {
			t.Errorf("%q", fmt.Sprint(r))
		}
	}
}

func FuzzRequestsAreSendable(f *testing.F) {
	f.Add("/cart", "shop.example")
	f.Add("/a b?c#d%", "*.x")
	f.Fuzz(func(t *testing.T, path, host string) {
		m := &maker{Core: &Core{}, asked: both}
		m.path(site{host: hostOf("shop.example"), rule: host, scheme: "http"}, nil, path)
		for _, r := range m.all() {
			if !sendable("/" + r.Target) {
				t.Errorf("%q", r.Target)
			}
		}
	})
}
