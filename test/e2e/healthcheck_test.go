package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"sluice/internal/debugapi"
)

// checked is a backend whose answers to checks a test chooses. counts tells clients and
// checks apart.
type checked struct {
	*httptest.Server
	status           atomic.Int64
	requests, checks atomic.Int64
}

func newChecked(t *testing.T, name string) *checked {
	c := &checked{}
	c.status.Store(http.StatusOK)
	answer := echo(name)
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" && r.UserAgent() == "sluice-health-check" {
			c.checks.Add(1)
			w.WriteHeader(int(c.status.Load()))
			return
		}
		c.requests.Add(1)
		answer.ServeHTTP(w, r)
	}))
	t.Cleanup(c.Close)
	return c
}

// eachSecond is checked often, and changes its state at the second result.
var eachSecond = []string{"sluice.io/health-check-path: /healthz", "sluice.io/health-check-interval: 1",
	"sluice.io/health-check-healthy-threshold: 2", "sluice.io/health-check-unhealthy-threshold: 2"}

// endpoints returns the endpoints of the backend with a health check, and the reasons of those
// that fail.
func (s *sluice) endpoints() (count int, reasons []string) {
	for _, b := range viewed[[]debugapi.Backend](s, debugapi.BackendsPath) {
		if strings.Contains(b.Key, "~") {
			for _, f := range b.Failing {
				reasons = append(reasons, f.Reason)
			}
			return len(b.Endpoints), reasons
		}
	}
	return 0, nil
}

func (s *sluice) waitEndpoints(count int, reasons ...string) {
	s.t.Helper()
	eventually(s.t, fmt.Sprintf("%d endpoints, and %v", count, reasons), func() bool {
		n, why := s.endpoints()
		return n == count && slices.Equal(why, reasons)
	})
}

// TestUnhealthyEndpointGetsNothing: neither it leaves nor it comes back by a reload, a new
// nginx knows the state, and all endpoints are used if all fail.
func TestUnhealthyEndpointGetsNothing(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		one, two := newChecked(t, "one"), newChecked(t, "two")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", one.Server, two.Server),
			"a.yaml": ingress("a", "a.example", []string{"/ Prefix web"}, eachSecond...),
			"b.yaml": ingress("b", "b.example", []string{"/ Prefix web"}, append(eachSecond, "affinity: cookie")...),
		})
		s.waitBackend("http://a.example/", "one")
		s.waitBackend("http://a.example/", "two")
		before := s.reloads()

		one.status.Store(http.StatusServiceUnavailable)
		s.waitEndpoints(1, "status 503")
		s.noReloadSince(before, "a failing endpoint")
		onlyTwo := func() {
			t.Helper()
			one.requests.Store(0)
			for range 50 {
				if a, err := s.get("http://a.example/"); err != nil || a.backend != "two" {
					t.Fatalf("%q answered, error %v", a.backend, err)
				}
			}
			if n := one.requests.Load(); n != 0 {
				t.Errorf("the failing endpoint got %d requests", n)
			}
		}
		onlyTwo()
		if text := s.view(debugapi.ExplainPath + "?url=http://a.example/"); !strings.Contains(text, "health check fails: 127.0.0.1:"+strconv.Itoa(portOf(one.Server))+": status 503") {
			t.Errorf("the explanation does not tell of it: %s", text)
		}

		former := s.processes()
		kill(t, s.master())
		waitGone(t, former)
		s.waitStatus("http://a.example/", http.StatusOK)
		onlyTwo()
		before = s.reloads()

		two.status.Store(http.StatusNotFound)
		s.waitEndpoints(2, ifFirst(one, two, "status 503", "status 404")...)
		s.waitBackend("http://a.example/", "one")
		s.waitBackend("http://a.example/", "two")

		one.status.Store(http.StatusNoContent)
		two.status.Store(http.StatusNoContent)
		s.waitEndpoints(2)
		s.waitBackend("http://a.example/", "one")
		s.noReloadSince(before, "endpoints that come back")
	})
}

// TestFailingEndpointStaysOut: when the state of the workers of an earlier configuration is
// removed from nginx, what nginx keeps has no endpoint that fails.
func TestFailingEndpointStaysOut(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		one, two := newChecked(t, "one"), newChecked(t, "two")
		s := start(t, root, map[string]string{
			"class.yaml": class, "settings.yaml": settings("worker-shutdown-timeout: 1s"), "web.yaml": service("web", one.Server, two.Server),
			"a.yaml":   ingress("a", "a.example", []string{"/ Prefix web"}, eachSecond...),
			"old.yaml": service("old", one.Server), "b.yaml": ingress("b", "b.example", []string{"/ Prefix old"}),
		}, "--configmap", "default/config")
		s.waitBackend("http://a.example/", "one")
		one.status.Store(http.StatusServiceUnavailable)
		s.waitEndpoints(1, "status 503")

		s.remove("b.yaml")
		s.waitStatus("http://b.example/", http.StatusNotFound)
		eventually(t, "the backend of earlier workers is removed", func() bool { return !slices.Contains(s.held()["backends"], "default/old/80") })
		one.requests.Store(0)
		for range 50 {
			if a, err := s.get("http://a.example/"); err != nil || a.backend != "two" {
				t.Fatalf("%q answered, error %v", a.backend, err)
			}
		}
	})
}

// ifFirst returns the texts in the order of the ports of the backends.
func ifFirst(a, b *checked, ofA, ofB string) []string {
	if portOf(a.Server) < portOf(b.Server) {
		return []string{ofA, ofB}
	}
	return []string{ofB, ofA}
}
