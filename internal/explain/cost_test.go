package explain

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"sluice/internal/manifest/decode"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// TestCandidatesCostTheSameEach: four times as many redirects, or paths of a protected Ingress that
// cannot be served, take some four times the work. Each test counts bytes of memory, as it must not
// depend on the speed of the machine.
func TestCandidatesCostTheSameEach(t *testing.T) {
	redirects := func(n int) string {
		var text strings.Builder
		for i := range n {
			lines := ""
			for j := range 16 {
				lines += fmt.Sprintf("      /old/%d/%d /new/%d/%d\n", i, j, i, j)
			}
			fmt.Fprintf(&text, manyHead+"    sluice.io/redirects: |\n"+manyRule, i, lines, fmt.Sprintf("      - {path: /p%d, pathType: Prefix, %s}\n", i, manyBackend))
		}
		return text.String()
	}
	closed := func(n int) string {
		paths := ""
		for i := range 4 * n {
			paths += fmt.Sprintf("      - {path: \"/%%zz%d\", pathType: Prefix, %s}\n", i, manyBackend)
		}
		return fmt.Sprintf(manyHead+"    nginx.ingress.kubernetes.io/whitelist-source-range: 192.0.2.0/24\n"+manyRule, 0, "", paths)
	}
	for name, manifests := range map[string]func(int) string{"redirects": redirects, "paths that answer 503": closed} {
		t.Run(name, func(t *testing.T) {
			few, many := explainCost(t, manifests(32)), explainCost(t, manifests(128))
			if many > 7*few {
				t.Errorf("%d bytes for four times what took %d", many, few)
			}
		})
	}
}

const (
	manyHead = "---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: i%d\n  namespace: shop\n  annotations:\n"
	manyRule = "%sspec:\n  ingressClassName: nginx\n  rules:\n  - host: shop.example\n    http:\n      paths:\n%s"

	manyBackend = "backend: {service: {name: web, port: {number: 80}}}"
)

func explainCost(t *testing.T, manifests string) uint64 {
	t.Helper()
	objects, _, err := decode.FromYAML("all.yaml", []byte("apiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: nginx}\nspec: {controller: k8s.io/ingress-nginx}\n"+manifests))
	if err != nil {
		t.Fatal(err)
	}
	snap, _ := snapshot.New(objects)
	options := translate.Options{IngressClasses: []string{"nginx"}, ControllerClass: "k8s.io/ingress-nginx", AnnotationsPrefix: "nginx.ingress.kubernetes.io"}
	config, problems := translate.Config(snap, options, nil)
	in := Input{Snapshot: snap, Options: options, Config: config, Problems: problems}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	Explain(in, Request{Method: "GET", Scheme: "http", Host: "shop.example", URI: "/old/3/7"})
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
