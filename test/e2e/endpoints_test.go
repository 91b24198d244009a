package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestEndpointsChangeUnderLoad adds, drains and removes endpoints under a
// constant load: no reload, and not one failed request.
func TestEndpointsChangeUnderLoad(t *testing.T) {
	eachNginxAlone(t, func(t *testing.T, root string) {
		one, two, three := backend(t, "one"), backend(t, "two"), backend(t, "three")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", one),
			"a.yaml": ingress("a", "a.example", []string{"/ Prefix web"}),
		})
		s.waitBackend("http://a.example/", "one")
		before, load := s.reloads(), s.generate("http://a.example/", 4)
		steps := []struct {
			backends []*httptest.Server
			served   string
		}{
			{[]*httptest.Server{one, two}, "two"}, {[]*httptest.Server{two}, "two"},
			{[]*httptest.Server{two, three}, "three"}, {[]*httptest.Server{three}, "three"},
			{[]*httptest.Server{one, two, three}, "one"}, {[]*httptest.Server{one}, "one"},
		}
		for range 5 {
			for _, step := range steps {
				s.write("web.yaml", service("web", step.backends...))
				s.waitBackend("http://a.example/", step.served)
			}
		}
		load.none(t)
		s.noReloadSince(before, "changes of endpoints")
	})
}

// TestRemovedEndpointGetsNothingMore: after a removal took effect no worker
// asks the removed endpoint.
func TestRemovedEndpointGetsNothingMore(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		one, two := backend(t, "one"), backend(t, "two")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", one, two),
			"a.yaml": ingress("a", "a.example", []string{"/ Prefix web"}),
		})
		s.waitBackend("http://a.example/", "one")
		s.waitBackend("http://a.example/", "two")
		s.write("web.yaml", service("web", two))
		run := 0
		eventually(t, "50 answers in a row by the endpoint that stays", func() bool {
			a, err := s.get("http://a.example/")
			if err != nil || a.backend != "two" {
				run = 0
				return false
			}
			run++
			return run == 50
		})
	})
}

// TestDeadEndpointIsRetriedElsewhere: nobody listens at one endpoint; every
// request is answered by the other one.
func TestDeadEndpointIsRetriedElsewhere(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		dead, living := httptest.NewServer(http.NotFoundHandler()), backend(t, "living")
		manifest := service("web", dead, living)
		dead.Close()
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": manifest, "a.yaml": ingress("a", "a.example", []string{"/ Prefix web"}),
		})
		for i := range 20 {
			if a, err := s.get("http://a.example/"); err != nil || a.backend != "living" {
				t.Fatalf("request %d: status %d, error %v", i, a.status, err)
			}
		}
	})
}

// TestNoEndpointAndNoService answer 503 and recover without a reload.
func TestNoEndpointAndNoService(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web"),
			"a.yaml": ingress("a", "a.example", []string{"/empty Prefix web", "/missing Prefix nobody"}),
		})
		s.waitStatus("http://a.example/empty", http.StatusServiceUnavailable)
		s.waitStatus("http://a.example/missing", http.StatusServiceUnavailable)
		before := s.reloads()
		s.write("web.yaml", service("web", web))
		s.waitBackend("http://a.example/empty", "web")
		s.write("nobody.yaml", service("nobody", web))
		s.waitBackend("http://a.example/missing", "web")
		s.noReloadSince(before, "endpoints that appeared")
	})
}

// TestHundredReloadsUnderLoad changes an Ingress a hundred times: every change
// reloads, and not one request to the other host fails.
func TestHundredReloadsUnderLoad(t *testing.T) {
	oneNginxAlone(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web),
			"steady.yaml": ingress("steady", "steady.example", []string{"/ Prefix web"}),
		})
		s.waitBackend("http://steady.example/", "web")
		before, load := s.reloads(), s.generate("http://steady.example/", 2)
		for i := range 100 {
			path := fmt.Sprintf("/v%d", i)
			s.write("b.yaml", ingress("b", "b.example", []string{path + " Prefix web"}))
			s.waitBackend("http://b.example"+path, "web")
		}
		load.none(t)
		eventually(t, "100 reloads to be confirmed", func() bool { return s.reloads()-before >= 100 })
	})
}
