package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"sluice/test/kit"
)

// TestCopiesHaveNoSpans: also where the balancer has to know the end of requests.
func TestCopiesHaveNoSpans(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		own := kit.OwnAddress(t)
		if own == "" {
			t.Skip("this machine has no address but its loopback")
		}
		collector := collectSpans(t)
		web, copied := newParents(t, 200), newParents(t, 200)
		s := prepare(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web.Server), "copied.yaml": service("copied", copied.Server),
			"settings.yaml": collector.settings(`enable-opentelemetry: "true"`),
			"b.yaml":        ingress("b", "copied.example", []string{"/ Prefix copied"}, "enable-opentelemetry: false"),
		}, "--configmap", "default/config", "--enable-metrics")
		s.write("a.yaml", ingress("a", "a.example", []string{"/ Prefix web"}, "load-balance: least_conn", fmt.Sprintf("mirror-target: http://%s:%d", own, s.HTTP), "mirror-host: copied.example"))
		s.launch()
		s.waitStatus("http://a.example/", http.StatusOK)
		trace, header := traceOf(1, "01")
		if got, err := s.ask("GET", "http://a.example/", header); err != nil || got.status != 200 {
			t.Fatal(got, err)
		}
		eventually(t, "the copy", func() bool { return copied.get(trace) != "" })
		later, header := traceOf(2, "01")
		if _, err := s.ask("GET", "http://a.example/", header); err != nil {
			t.Fatal(err)
		}
		collector.wait(t, later, "0", "1")
		collector.wait(t, trace, "0", "1")
	})
}
