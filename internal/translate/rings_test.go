package translate

import (
	"fmt"
	"strings"
	"testing"

	"sluice/internal/model"
)

// TestRingsOfOneNamespaceHaveALimit: many backends with affinity share the points of their
// namespace; those of another one have as many as ever.
func TestRingsOfOneNamespaceHaveALimit(t *testing.T) {
	t.Parallel()
	const many = 2 * mostRingPoints / usualRingPoints
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
	total := 0
	for _, b := range config.Dynamic.Backends {
		switch limited := b.Balancing != nil && b.Balancing.Affinity == model.Balanced; {
		case limited && b.Target.Namespace == "big":
			if total += b.RingPoints; b.RingPoints < 1000 {
				t.Errorf("%s has %d points", b.Key, b.RingPoints)
			}
		case b.RingPoints != 0:
			t.Errorf("%s has a limit of %d points", b.Key, b.RingPoints)
		}
	}
	if total < mostRingPoints/2 || total > mostRingPoints {
		t.Errorf("the rings of one namespace have %d points", total)
	}
}

func serviceWithoutEndpoints(namespace, name string) string {
	return fmt.Sprintf("---\napiVersion: v1\nkind: Service\nmetadata: {namespace: %s, name: %s}\nspec: {ports: [{port: 80}]}\n", namespace, name)
}
