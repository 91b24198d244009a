package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestRefusedIngressThatProtectsStaysClosed: nginx refuses an Ingress with an allow
// list. On a running pod as on a new one its paths answer 503, and the shorter
// prefix of a neighbour does not get them.
func TestRefusedIngressThatProtectsStaysClosed(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web),
			"open.yaml": ingress("open", "a.example", []string{"/ Prefix web"}),
			"admin.yaml": ingress("admin", "a.example", []string{"/admin/ Prefix web", "/admin/(a ImplementationSpecific web"},
				"use-regex: true", "allowlist-source-range: 10.0.0.0/8"),
		})
		s.waitBackend("http://a.example/", "web")
		s.waitStatus("http://a.example/admin/", http.StatusServiceUnavailable)
		s.waitLine("and it protects its paths")
		s.waitStatus("http://a.example/admin/(a", http.StatusServiceUnavailable)
		// The list of the settings protects every path of every Ingress.
		s.write("open.yaml", ingress("open", "a.example", []string{"/ Prefix web"}, "enable-cors: true"))
		s.waitStatus("http://a.example/admin/", http.StatusServiceUnavailable)
	})
}

// named gives the Ingress another namespace.
func named(namespace, ingress string) string {
	return strings.ReplaceAll(ingress, "namespace: default", "namespace: "+namespace)
}

// TestManyRefusedLinesHoldTheStartBack prints how long a new pod takes until it
// serves the good Ingresses beside 300 that nginx refuses, and without them.
func TestManyRefusedLinesHoldTheStartBack(t *testing.T) {
	oneNginxAlone(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		good := map[string]string{"class.yaml": class, "web.yaml": service("web", web), "good.yaml": ingress("good", "good.example", []string{"/ Prefix web"})}
		took := func(more string) (*sluice, time.Duration) {
			good["many.yaml"] = more
			s := prepare(t, root, good)
			began := time.Now()
			s.launch()
			s.waitBackend("http://good.example/", "web")
			return s, time.Since(began)
		}
		alone, without := took("# none\n")
		alone.stop()
		different, same := "", ""
		for i := range 300 {
			name, host := fmt.Sprintf("bad-%d", i), fmt.Sprintf("bad-%d.example", i)
			same += named("tenant", bad(name, host))
			different += named("tenant", ingress(name, host, []string{"/" + strings.Repeat("x", i%97) + strings.Repeat("y", i%11) + "(b ImplementationSpecific web"}, "use-regex: true"))
		}
		s, beside := took(same)
		eventually(t, "refusals", func() bool { return len(s.lines("reason=Refused")) >= 300 })
		s.stop()
		o, others := took(different)
		eventually(t, "refusals", func() bool { return len(o.lines("reason=Refused")) >= 20 })
		t.Logf("served after: %v alone, %v beside 300 equal mistakes, %v beside 300 different ones", without, beside, others)
	})
}
