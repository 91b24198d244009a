package e2e

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// limited are two Ingresses of one host, with a rate each, and a third with rates for
// single paths.
var limited = ingress("fast", "shop.example", []string{"/fast Prefix web"}, "limit-rpm: 6", "limit-burst-multiplier: 2") +
	ingress("slow", "shop.example", []string{"/slow Prefix web"}, "limit-rpm: 1", "limit-burst-multiplier: 3") +
	strings.Replace(
		ingress("paths", "shop.example", []string{"/some Prefix web", "/few Prefix web", "/rest Prefix web"}, "limit-rpm: 1", "limit-burst-multiplier: 1"),
		"annotations: {", "annotations: {\n    sluice.io/paths.limit-rps: \"/some: 2\\n/few: 1\", sluice.io/paths.limit-rpm: \"/some: 0\\n/few: 0\",", 1) +
	ingress("free", "shop.example", []string{"/ Prefix web"})

// burst asks so many times, one after another, and gives how many requests a backend
// answered and how many were refused with 429.
func (s *sluice) burst(url string, requests int) (served, refused int) {
	s.t.Helper()
	for range requests {
		a, err := s.get(url)
		switch {
		case err != nil:
			s.t.Fatal(err)
		case a.status == http.StatusTooManyRequests:
			refused++
		case a.backend == "web":
			served++
		default:
			s.t.Fatalf("%s: status %d", url, a.status)
		}
	}
	return served, refused
}

// TestRatesAreKept: nginx counts each Ingress, and each path with a rate of its own, by
// its rate. What a burst gets beyond 1 and rate times multiplier is what came due
// meanwhile, which the test measures: a slow machine changes no verdict.
func TestRatesAreKept(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{"class.yaml": class, "web.yaml": service("web", web), "limited.yaml": limited,
			"settings.yaml": settings("limit-req-status-code: '429'")}, "--configmap", "default/config")
		s.waitBackend("http://shop.example/", "web")
		const requests = 30
		for _, rate := range []struct {
			path      string
			atOnce    int
			perSecond float64
		}{
			{"/fast", 1 + 12, 6.0 / 60},
			{"/slow", 1 + 3, 1.0 / 60},
			{"/some", 1 + 2, 2},
			{"/few", 1 + 1, 1},
			{"/rest", 1 + 1, 1.0 / 60},
			{"/", requests, 0},
		} {
			begin := time.Now()
			served, refused := s.burst("http://shop.example"+rate.path, requests)
			// nginx counts in milliseconds of a clock that a worker reads once a turn.
			most := min(rate.atOnce+int(rate.perSecond*(time.Since(begin)+100*time.Millisecond).Seconds()), requests)
			if served < rate.atOnce || served > most || served+refused != requests {
				t.Errorf("%s: %d of %d were served, want %d to %d", rate.path, served, requests, rate.atOnce, most)
			}
		}
		// What is refused now is served when it is due again.
		s.waitBackend("http://shop.example/some", "web")
		s.waitBackend("http://shop.example/few", "web")
	})
}

// TestConnectionsAreLimited: while as many requests are open as one address may have,
// another is refused. It is served when one of them ends.
func TestConnectionsAreLimited(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		arrived, release := make(chan struct{}), make(chan struct{})
		slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			arrived <- struct{}{}
			<-release
			echo("slow").ServeHTTP(w, r)
		}))
		t.Cleanup(slow.Close)
		web := backend(t, "web")
		s := start(t, root, map[string]string{"class.yaml": class, "web.yaml": service("web", web) + service("slow", slow), "a.yaml": ingress("two", "two.example", []string{"/ Prefix slow"}, "limit-connections: 2") +
			ingress("one", "one.example", []string{"/ Prefix slow", "/free Prefix web"}, "limit-connections: 1") + ingress("free", "free.example", []string{"/ Prefix web"}),
			"settings.yaml": settings("limit-conn-status-code: '429'")}, "--configmap", "default/config")
		s.waitBackend("http://free.example/", "web")
		var open sync.WaitGroup
		defer open.Wait()
		defer close(release)
		hold := func(url string) {
			t.Helper()
			open.Go(func() {
				if a, err := s.get(url); err != nil || a.backend != "slow" {
					t.Errorf("%s: %d %v", url, a.status, err)
				}
			})
			select {
			case <-arrived:
			case <-time.After(patience):
				t.Errorf("%s does not reach the backend", url)
			}
		}
		hold("http://two.example/")
		s.waitStatus("http://free.example/", 200)
		hold("http://two.example/a")
		hold("http://one.example/")
		for _, url := range []string{"http://two.example/b", "http://one.example/free"} {
			if a, err := s.get(url); err != nil || a.status != http.StatusTooManyRequests {
				t.Errorf("%s while the most are open: %d %v", url, a.status, err)
			}
		}
		for range 3 {
			release <- struct{}{}
		}
		s.waitBackend("http://one.example/free", "web")
		hold("http://two.example/c")
	})
}
