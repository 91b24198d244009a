package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sluice/test/bench/measure"
)

// TestAPatternHoldsNoWorker: a pattern that takes nginx long is given up, and the
// request is answered by no other path.
func TestAPatternHoldsNoWorker(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		deep := ingress("deep", "a.example", []string{"/admin/(.+)(.+)(?=.*x) ImplementationSpecific web"}, "use-regex: true", "whitelist-source-range: 192.0.2.1")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web),
			"deep.yaml": deep,
			"open.yaml": ingress("open", "a.example", []string{"/ Prefix web"}),
		})
		s.waitBackend("http://a.example/", "web")
		s.waitStatus("http://a.example/admin/abx", 403)
		for _, length := range []int{300, 7_000} {
			before := time.Now()
			a, err := s.get("http://a.example/admin/" + strings.Repeat("a", length))
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d bytes: %d after %v", length, a.status, time.Since(before))
			if a.status != 500 {
				t.Errorf("a request of %d bytes: status %d, want 500: too much work for the pattern, and no other path", length, a.status)
			}
		}
	})
}

// TestAPatternThatMayBeginAnywhereHoldsNoWorker: PCRE's own limit counts anew for
// each place where a match could begin.
func TestAPatternThatMayBeginAnywhereHoldsNoWorker(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		wide := ingress("wide", "a.example", []string{"/y|/(.{0,9})(.{0,9})(?=[^xz]*+[xz]) ImplementationSpecific web"}, "use-regex: true")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web),
			"wide.yaml": wide,
		})
		s.waitBackend("http://a.example/b/cx", "web")
		before := time.Now()
		a, err := s.get("http://a.example" + strings.Repeat("/a", 2_000))
		t.Logf("%d after %v", a.status, time.Since(before))
		if err != nil || a.status != 500 {
			t.Errorf("status %d, want 500: %v", a.status, err)
		}
	})
}

// TestManyPatternsHoldNoWorker: hard patterns of which each is within its limit add
// up on one host.
func TestManyPatternsHoldNoWorker(t *testing.T) {
	eachNginxAlone(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		var paths []string
		for i := range 200 {
			paths = append(paths, fmt.Sprintf("/(.{0,60})(.{0,60})(?=[^xz]*+[xz])(?:.|%03d) ImplementationSpecific web", i))
		}
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web),
			"many.yaml": ingress("many", "a.example", paths, "use-regex: true"),
			"open.yaml": ingress("open", "a.example", []string{"/ Prefix web"}),
		})
		s.waitBackend("http://a.example/b/c", "web")
		// Processor time, because other programs do not add to it.
		before := measure.CPUOf(s.PID()).Nginx
		if before == 0 {
			t.Fatal("the processor time of nginx is not known")
		}
		a, _ := s.get("http://a.example/" + strings.Repeat("a", 7_000))
		took := measure.CPUOf(s.PID()).Nginx - before
		t.Logf("%d after %.2f s of processor time", a.status, took)
		if a.status != 500 || took > 2 {
			t.Errorf("status %d after %.2f s of processor time, want 500 in less than half a second", a.status, took)
		}
	})
}

// TestDeniedPathsHoldNoWorker: the request that a pattern of deny-paths gives up is refused
// and never reaches the backend. Many of them share their steps.
func TestDeniedPathsHoldNoWorker(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		var lines strings.Builder
		for i := range 64 {
			fmt.Fprintf(&lines, "~ ^/%d?x*x*x*x*N$\n", i)
		}
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web),
			"one.yaml":  ingress("one", "a.example", []string{"/ Prefix web"}, "sluice.io/deny-paths: ~ ^/x*x*x*x*N$"),
			"many.yaml": ingress("many", "b.example", []string{"/ Prefix web"}, "sluice.io/deny-paths: "+lines.String()),
		})
		for _, host := range []string{"a.example", "b.example"} {
			s.waitBackend("http://"+host+"/", "web")
			s.waitStatus("http://"+host+"/xxN", 403)
			a, err := s.get("http://" + host + "/" + strings.Repeat("x", 300) + "Ny")
			if err != nil || a.status != 500 {
				t.Errorf("%s: status %d, want 500: too much work for a pattern (%v)", host, a.status, err)
			}
		}
	})
}
