package translate

import (
	"fmt"
	"strings"
	"testing"

	"sluice/internal/model"
)

// TestRingsOfOneNamespaceHaveALimit: many backends with affinity share the points of their
// namespace; those of another one have as many as ever. One backend more, up to a power of
// two, changes no ring, so that sessions stay.
func TestRingsOfOneNamespaceHaveALimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ backends, each int }{
		{16, 20_000}, {17, 15_625}, {32, 15_625}, {33, 7812}, {40, 7812}, {41, 7812}, {64, 7812}, {65, 3906},
	} {
		for _, b := range affinityOf(t, c.backends).Dynamic.Backends {
			want := 0
			switch limited := b.Balancing != nil && b.Balancing.Affinity == model.Balanced; {
			case limited && b.Target.Namespace == "big":
				want = c.each
			case limited:
				want = 20_000
			}
			if b.RingPoints != want || c.backends*c.each > mostRingPoints {
				t.Errorf("with %d rings %s has %d points, want %d", c.backends, b.Key, b.RingPoints, want)
			}
		}
	}
}

// affinityOf translates a namespace with so many backends with affinity, and one with one.
func affinityOf(t *testing.T, many int) model.Config {
	cookie := map[string]string{"affinity": "cookie"}
	ingresses := []ing{{name: "small/i", annotations: cookie, rules: []string{"small.example / P web:80"}}}
	var yaml strings.Builder
	fmt.Fprint(&yaml, serviceWithoutEndpoints("small", "web"))
	for n := range many {
		fmt.Fprint(&yaml, serviceWithoutEndpoints("big", fmt.Sprintf("web%d", n)))
		ingresses = append(ingresses, ing{name: fmt.Sprintf("big/i%d", n), annotations: cookie, rules: []string{fmt.Sprintf("h%d.example / P web%d:80", n, n)}})
	}
	w := world{yaml: yaml.String(), ingresses: ingresses}
	config, _ := w.translate(t)
	return config
}

func serviceWithoutEndpoints(namespace, name string) string {
	return fmt.Sprintf("---\napiVersion: v1\nkind: Service\nmetadata: {namespace: %s, name: %s}\nspec: {ports: [{port: 80}]}\n", namespace, name)
}
