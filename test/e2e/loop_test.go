package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"sluice/test/kit"
)

// TestALoopEnds: a request that an ExternalName leads back to nginx goes round a
// few times, and a service is asked however often a client claims to have been here.
func TestALoopEnds(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		own := kit.OwnAddress(t)
		if own == "" {
			t.Skip("this machine has no address but its loopback")
		}
		var seen atomic.Pointer[http.Header]
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			seen.Store(&r.Header)
			echo("web").ServeHTTP(w, r)
		}))
		t.Cleanup(web.Close)
		s := prepare(t, root, oneHost(web))
		s.write("loop.yaml", fmt.Sprintf("apiVersion: v1\nkind: Service\nmetadata: {name: back, namespace: default}\nspec:\n  type: ExternalName\n  externalName: %s\n  ports: [{name: http, port: 80, targetPort: %d}]\n---\n", own, s.HTTP)+
			ingress("loop", "loop.example", []string{"/ Prefix back"})+"---\n"+
			ingress("apart", "apart.example", []string{"/ Prefix back"}, "nginx.ingress.kubernetes.io/upstream-vhost: apart.example"))
		s.launch()
		s.waitBackend("http://a.example/", "web")
		// Headers for the backend of the second have a directive each.
		for _, url := range []string{"http://loop.example/once", "http://apart.example/apart"} {
			if a, err := s.get(url); err != nil || a.status != http.StatusLoopDetected {
				t.Errorf("%s: status %d, want 508: %v", url, a.status, err)
			}
		}
		header := *seen.Load()
		for name := range header {
			if len(name) > 7 && name[:7] == "X-Hops-" && header.Get(name) != "1" {
				t.Errorf("%s: %s at the first service, want 1", name, header.Get(name))
			}
		}
		forged := http.Header{"X-Hops": {"10"}, "X-Hops-Token": {"10"}, "Max-Forwards": {"0"}, "Via": {"1.1 sluice, 1.1 sluice"}}
		if a, err := s.ask(http.MethodGet, "http://a.example/", forged); err != nil || a.backend != "web" {
			t.Errorf("a client that claims hops: %d %v", a.status, err)
		}
		hops := len(s.lines("/once"))
		t.Logf("%d lines of the access log name the request", hops)
		if hops > 12 {
			t.Errorf("%d hops, want some 11", hops)
		}
	})
}
