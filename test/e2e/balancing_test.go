package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
)

// oneWorker makes counts exact: each worker counts for itself.
var oneWorker = settings(`worker-processes: "1"`)

// TestFailingEndpointIsEjected: with one try for a request, its failure is noticed when the
// request ends; with several, when nginx tries again.
func TestFailingEndpointIsEjected(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		var asked atomic.Int64
		broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			panic(http.ErrAbortHandler)
		}))
		t.Cleanup(broken.Close)
		living := backend(t, "living")
		eject := []string{"sluice.io/max-fails: 2", "sluice.io/fail-timeout: 3600"}
		s := start(t, root, map[string]string{
			"class.yaml": class, "config.yaml": oneWorker, "web.yaml": service("web", broken, living), "api.yaml": service("api", broken, living),
			"a.yaml": ingress("a", "a.example", []string{"/ Prefix web"}, eject...),
			"b.yaml": ingress("b", "b.example", []string{"/ Prefix api"}, append(eject, "proxy-next-upstream: off", "upstream-hash-by: $arg_key")...),
		}, "--configmap", "default/config")
		for range 50 {
			if a, err := s.get("http://a.example/"); err != nil || a.backend != "living" {
				t.Fatalf("status %d, error %v", a.status, err)
			}
		}
		if n := asked.Swap(0); n != 2 {
			t.Errorf("the broken endpoint was asked %d times, want 2", n)
		}
		failed := 0
		for i := range 50 {
			a, err := s.get(fmt.Sprintf("http://b.example/?key=%d", i))
			if err != nil {
				t.Fatal(err)
			}
			if a.status == http.StatusBadGateway {
				failed++
			}
		}
		if n := asked.Load(); n != 2 || failed != 2 {
			t.Errorf("the broken endpoint was asked %d times and %d requests failed, want 2", n, failed)
		}
	})
}

// TestClientsLeaveAnEjectedEndpoint: their cookies name it, or keys that lead to it.
func TestClientsLeaveAnEjectedEndpoint(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		var asked atomic.Int64
		broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			panic(http.ErrAbortHandler)
		}))
		t.Cleanup(broken.Close)
		s := start(t, root, map[string]string{
			"class.yaml": class, "config.yaml": oneWorker, "web.yaml": service("web", broken, backend(t, "living")),
			"a.yaml": ingress("a", "a.example", []string{"/ Prefix web"}, "sluice.io/max-fails: 2", "sluice.io/fail-timeout: 3600", "proxy-next-upstream: off", "affinity: cookie"),
		}, "--configmap", "default/config")
		for i := range 50 {
			if _, err := s.ask(http.MethodGet, "http://a.example/", http.Header{"Cookie": {fmt.Sprint("INGRESSCOOKIE=client-", i)}}); err != nil {
				t.Fatal(err)
			}
		}
		if n := asked.Load(); n != 2 {
			t.Errorf("the broken endpoint was asked %d times, want 2", n)
		}
	})
}

// TestFailureWithAnErrorPageIsNoticed: nginx passes the request on to another location
// then, that of the page or that which answers clients of gRPC.
func TestFailureWithAnErrorPageIsNoticed(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		var asked atomic.Int64
		broken, living := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			asked.Add(1)
			panic(http.ErrAbortHandler)
		})), httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		for _, server := range []*httptest.Server{broken, living} {
			server.Config.Protocols = new(http.Protocols)
			server.Config.Protocols.SetHTTP1(true)
			server.Config.Protocols.SetUnencryptedHTTP2(true)
			server.Start()
			t.Cleanup(server.Close)
		}
		eject := []string{"sluice.io/max-fails: 2", "sluice.io/fail-timeout: 3600", "proxy-next-upstream: off", "upstream-hash-by: $arg_key"}
		s := start(t, root, map[string]string{
			"class.yaml": class, "config.yaml": oneWorker, "page.yaml": service("page", backend(t, "page")),
			"web.yaml": service("web", broken, living), "api.yaml": service("api", broken, living),
			"a.yaml": ingress("a", "web.example", []string{"/ Prefix web"}, append(eject, "custom-http-errors: 502", "default-backend: page")...),
			"b.yaml": ingress("b", "api.example", []string{"/ Prefix api"}, append(eject, "backend-protocol: GRPC")...),
		}, "--configmap", "default/config")
		for _, host := range []string{"web.example", "api.example"} {
			asked.Store(0)
			for i := range 50 {
				if _, err := s.get(fmt.Sprintf("http://%s/?key=%d", host, i)); err != nil {
					t.Fatal(err)
				}
			}
			if n := asked.Load(); n != 2 {
				t.Errorf("%s: the broken endpoint was asked %d times, want 2", host, n)
			}
		}
	})
}

// TestFewestRequests: an endpoint that has not answered gets no request while others are
// idle. It gets some again when its request ends, also if the client leaves first, or nginx
// redirects the request internally.
func TestFewestRequests(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		begun, release := make(chan bool, 10), make(chan bool)
		t.Cleanup(func() { close(release) })
		busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/slow":
				begun <- true
				select {
				case <-release:
				case <-r.Context().Done():
				}
			case "/moved":
				w.Header().Set("X-Accel-Redirect", "/")
			case "/away":
				w.Header().Set("X-Accel-Redirect", "/other")
			}
			fmt.Fprint(w, `{"backend": "busy"}`)
		}))
		t.Cleanup(busy.Close)
		idle := backend(t, "idle")
		s := start(t, root, map[string]string{
			"class.yaml": class, "config.yaml": oneWorker, "busy.yaml": service("web", busy),
			"a.yaml": ingress("a", "a.example", []string{"/ Prefix web"}, "load-balance: least_conn"),
			"b.yaml": ingress("b", "a.example", []string{"/other Exact other"}), "other.yaml": service("other", backend(t, "other")),
		}, "--configmap", "default/config")
		s.waitBackend("http://a.example/", "busy")
		slow := func() (leave func()) {
			ctx, cancel := context.WithCancel(t.Context())
			request, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://a.example/slow", nil)
			ended := make(chan bool)
			go func() {
				defer close(ended)
				if response, err := (&http.Client{Transport: s.transport()}).Do(request); err == nil {
					response.Body.Close()
				}
			}()
			<-begun
			return func() { cancel(); <-ended }
		}
		leave := slow()
		s.write("busy.yaml", service("web", busy, idle))
		s.waitBackend("http://a.example/", "idle")
		for range 20 {
			if a, err := s.get("http://a.example/"); err != nil || a.backend != "idle" {
				t.Fatalf("%s answered, error %v", a.backend, err)
			}
		}
		leave()
		s.waitBackend("http://a.example/", "busy")
		s.write("busy.yaml", service("web", busy))
		for path, by := range map[string]string{"moved": "busy", "away": "other"} {
			eventually(t, "ten answers in a row by "+by, func() bool {
				for range 10 {
					if a, err := s.get("http://a.example/" + path); err != nil || a.backend != by {
						return false
					}
				}
				return true
			})
		}
		s.write("busy.yaml", service("web", busy, idle))
		s.waitBackend("http://a.example/", "idle")
		s.waitBackend("http://a.example/", "busy")
	})
}

// TestSharesOfCanaries: two canaries of a path get their shares within 1 % over 10,000
// requests, and the rest gets the main backend.
func TestSharesOfCanaries(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		s := start(t, root, map[string]string{
			"class.yaml": class, "main.yaml": service("main", backend(t, "main")), "one.yaml": service("one", backend(t, "one")), "two.yaml": service("two", backend(t, "two")),
			"a.yaml": ingress("a", "a.example", []string{"/ Prefix main"}),
			"b.yaml": ingress("b", "a.example", []string{"/ Prefix one"}, "canary: true", "canary-weight: 20"),
			"c.yaml": ingress("c", "a.example", []string{"/ Prefix two"}, "canary: true", "canary-weight: 33", "canary-weight-total: 1000"),
		})
		for _, name := range []string{"main", "one", "two"} {
			s.waitBackend("http://a.example/", name)
		}
		const clients, each = 10, 1000
		var mu sync.Mutex
		seen, all := map[string]int{}, sync.WaitGroup{}
		for range clients {
			all.Go(func() {
				for range each {
					a, err := s.get("http://a.example/")
					mu.Lock()
					if seen[a.backend]++; err != nil {
						t.Error(err)
					}
					mu.Unlock()
				}
			})
		}
		all.Wait()
		t.Log(seen)
		for name, want := range map[string]int{"main": 7670, "one": 2000, "two": 330} {
			if off := seen[name] - want; off < -100 || off > 100 {
				t.Errorf("%s got %d of 10000 requests, want %d within 100", name, seen[name], want)
			}
		}
	})
}
