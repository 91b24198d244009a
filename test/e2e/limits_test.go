package e2e

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// nginx counts a request once: where the backend of a path with a limit of its own sends
// it on, the limit of the other path does not count it.
func TestLimitsCountARequestOnce(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		on := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Accel-Redirect", "/b") }))
		t.Cleanup(on.Close)
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "sender.yaml": service("sender", on),
			"a.yaml": ingress("a", "shop.example", []string{"/a Prefix sender"}, "limit-rps: 1000"),
			"b.yaml": ingress("b", "shop.example", []string{"/b Prefix web"}, "limit-rpm: 1", "limit-burst-multiplier: 1"),
		})
		s.waitBackend("http://shop.example/a", "web")
		if got := s.askAtOnce("http://shop.example/b", nil, 5); got[http.StatusOK] != 2 || got[http.StatusServiceUnavailable] != 3 {
			t.Errorf("/b: %v, want 200 twice and 503", got)
		}
		if got := s.askAtOnce("http://shop.example/a", nil, 5); got[http.StatusOK] != 5 {
			t.Errorf("/a, whose backend sends on to /b: %v, want 200", got)
		}
	})
}
