package dynamic_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"sluice/internal/dynamic"
	"sluice/internal/model"
	"sluice/test/ports"
)

// backendServer answers with its name.
func backendServer(t *testing.T, name string) model.Endpoint {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, name)
	}))
	t.Cleanup(s.Close)
	return endpoint(t, s.Listener.Addr())
}

func endpoint(t *testing.T, address net.Addr) model.Endpoint {
	t.Helper()
	tcp, ok := address.(*net.TCPAddr)
	if !ok {
		t.Fatalf("not TCP: %s", address)
	}
	return model.Endpoint{Address: tcp.IP.String(), Port: tcp.Port}
}

// closedPort returns an endpoint without a listener.
func closedPort(t *testing.T) model.Endpoint {
	t.Helper()
	return model.Endpoint{Address: "127.0.0.1", Port: ports.Take(t)}
}

func backend(key string, endpoints ...model.Endpoint) *model.Backend {
	return &model.Backend{Key: key, Endpoints: endpoints, WhenEmpty: 503}
}

func backends(b ...*model.Backend) model.Dynamic { return model.Dynamic{Backends: b} }

// answer is the response to one request.
type answer struct {
	code                int
	body, worker, tried string
}

func (s *server) get(t *testing.T, path string) answer {
	t.Helper()
	response, err := s.web().Get("http://shop.example" + path)
	if err != nil {
		t.Error(err)
		return answer{}
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Error(err)
	}
	return answer{response.StatusCode, string(body), response.Header.Get("X-Worker"), response.Header.Get("X-Tried")}
}

// inAllWorkers sends requests until both workers answered, and checks each answer. One
// worker would take all requests of a row; of many at once, it leaves some.
func (s *server) inAllWorkers(t *testing.T, path string, verify func(answer) error) {
	t.Helper()
	seen := map[string]bool{}
	s.await(t, "an answer of each worker", func() bool {
		for _, a := range crowd(func() answer { return s.get(t, path) }) {
			if err := verify(a); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			seen[a.worker] = true
		}
		return len(seen) == 2
	})
}

// crowd sends many requests at once.
func crowd[T any](ask func() T) []T {
	answers := make([]T, 24)
	var group sync.WaitGroup
	for i := range answers {
		group.Go(func() { answers[i] = ask() })
	}
	group.Wait()
	return answers
}

func wantBody(code int, body string) func(answer) error {
	return func(a answer) error {
		if a.code != code || !strings.Contains(a.body, body) {
			return fmt.Errorf("want %d %q, got %d %q", code, body, a.code, a.body)
		}
		return nil
	}
}

func TestPushIsServedByAllWorkersAtTheNextRequest(t *testing.T) {
	everywhere(t, func(t *testing.T, i install) {
		s := start(t, &server{install: i})
		s.inAllWorkers(t, "/", wantBody(503, "503"))
		for _, name := range []string{"first", "second", "third"} {
			check(t, s.client.Push(t.Context(), backends(backend("shop/front/80", backendServer(t, name)))))
			s.inAllWorkers(t, "/", wantBody(200, name))
		}
		before, err := s.client.Status(t.Context())
		check(t, err)
		if before.Load != 1 {
			t.Errorf("load: want 1, as nothing was reloaded, got %d", before.Load)
		}
	})
}

func TestEmptyBackendAnswersItsStatus(t *testing.T) {
	everywhere(t, func(t *testing.T, i install) {
		s := start(t, &server{install: i})
		web := backendServer(t, "web")
		check(t, s.client.Push(t.Context(), backends(backend("shop/front/80", web), backend("shop/other/80", web))))
		s.inAllWorkers(t, "/other", wantBody(200, "web"))
		gone := backend("shop/other/80")
		gone.WhenEmpty = 404
		check(t, s.client.Push(t.Context(), backends(backend("shop/front/80"), gone)))
		s.inAllWorkers(t, "/", wantBody(503, "503"))
		s.inAllWorkers(t, "/other", wantBody(404, "404"))
	})
}

// TestEmptyBackendBehindTLS: the 503 of Sluice speaks plain HTTP. If the Lua module
// cannot turn TLS off (before 0.10.24), the request fails with 502.
func TestEmptyBackendBehindTLS(t *testing.T) {
	everywhere(t, func(t *testing.T, i install) {
		s := start(t, &server{install: i})
		want := 503
		if !strings.Contains(readFile(t, i.root+"/usr/share/lua/5.1/ngx/balancer.lua"), "set_upstream_tls") {
			want = 502
		}
		s.inAllWorkers(t, "/tls", wantBody(want, fmt.Sprint(want)))
	})
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	check(t, err)
	return string(text)
}

func TestEndpointsChangeUnderLoadWithoutAFailedRequest(t *testing.T) {
	everywhere(t, func(t *testing.T, i install) {
		s := start(t, &server{install: i})
		a, b, c := backendServer(t, "a"), backendServer(t, "b"), backendServer(t, "c")
		check(t, s.client.Push(t.Context(), backends(backend("shop/front/80", a))))
		done := make(chan struct{})
		var load sync.WaitGroup
		for range 3 {
			load.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
					}
					if got := s.get(t, "/"); got.code != 200 {
						t.Errorf("want 200, got %d %q", got.code, got.body)
						return
					}
				}
			})
		}
		for n := range 300 {
			sets := [][]model.Endpoint{{a}, {a, b}, {b}, {b, c}, {a, b, c}}
			check(t, s.client.Push(t.Context(), backends(backend("shop/front/80", sets[n%len(sets)]...))))
		}
		close(done)
		load.Wait()
	})
}

func TestRequestsAreSpreadEvenly(t *testing.T) {
	everywhere(t, func(t *testing.T, i install) {
		s := start(t, &server{install: i})
		check(t, s.client.Push(t.Context(), backends(backend("shop/front/80", backendServer(t, "a"), backendServer(t, "b"), backendServer(t, "c")))))
		got := map[string]map[string]int{}
		for range 60 {
			a := s.get(t, "/")
			if got[a.worker] == nil {
				got[a.worker] = map[string]int{}
			}
			got[a.worker][a.body]++
		}
		for worker, counts := range got {
			if most, least := max(counts["a"], counts["b"], counts["c"]), min(counts["a"], counts["b"], counts["c"]); most-least > 1 {
				t.Errorf("worker %s: want turns, got %v", worker, counts)
			}
		}
	})
}

func TestRetryGoesToAnEndpointNotTriedYet(t *testing.T) {
	everywhere(t, func(t *testing.T, i install) {
		s := start(t, &server{install: i})
		dead := []model.Endpoint{closedPort(t), closedPort(t)}
		check(t, s.client.Push(t.Context(), backends(backend("shop/front/80", append(dead, backendServer(t, "alive"))...))))
		retried := 0
		for range 30 {
			a := s.get(t, "/")
			if err := wantBody(200, "alive")(a); err != nil {
				t.Fatal(err)
			}
			retried += strings.Count(a.tried, ",")
		}
		if retried == 0 {
			t.Error("want some retries, got none")
		}
	})
}

func TestRetriesAreBoundedByNextUpstreamTries(t *testing.T) {
	everywhere(t, func(t *testing.T, i install) {
		s := start(t, &server{install: i})
		check(t, s.client.Push(t.Context(), backends(backend("shop/front/80", closedPort(t), closedPort(t), closedPort(t), closedPort(t), closedPort(t)))))
		for range 5 {
			a := s.get(t, "/")
			tried := strings.Split(a.tried, ", ")
			distinct := map[string]bool{}
			for _, address := range tried {
				distinct[address] = true
			}
			if a.code != 502 || len(tried) != 3 || len(distinct) != 3 {
				t.Errorf("want 502 after 3 different endpoints, got %d after %q", a.code, a.tried)
			}
		}
	})
}

func TestRetriesGoOnWhereThereIsNoOtherEndpoint(t *testing.T) {
	everywhere(t, func(t *testing.T, i install) {
		s := start(t, &server{install: i})
		dead, other := closedPort(t), closedPort(t)
		wantTries := func(path string, want int) {
			t.Helper()
			if a := s.get(t, path); a.code != 502 || strings.Count(a.tried, ",") != want-1 {
				t.Errorf("%s: want 502 after %d tries, got %d after %q", path, want, a.code, a.tried)
			}
		}
		check(t, s.client.Push(t.Context(), backends(backend("shop/front/80", dead))))
		wantTries("/", 3)
		wantTries("/endless", 1)
		check(t, s.client.Push(t.Context(), backends(backend("shop/front/80", dead, other))))
		s.await(t, "the second endpoint", func() bool { return strings.Count(s.get(t, "/endless").tried, ",") == 1 })
		wantTries("/", 3)
		wantTries("/endless", 2)
	})
}

// TestTriesHaveAnEnd: a Service with many dead endpoints cannot keep a worker busy, and
// no endpoint is tried twice.
func TestTriesHaveAnEnd(t *testing.T) {
	everywhere(t, func(t *testing.T, i install) {
		s := start(t, &server{install: i})
		many, port := backend("shop/front/80"), closedPort(t).Port
		for at := range 100 {
			many.Endpoints = append(many.Endpoints, model.Endpoint{Address: fmt.Sprintf("127.0.0.%d", at+1), Port: port})
		}
		check(t, s.client.Push(t.Context(), backends(many)))
		a := s.get(t, "/endless")
		tried := strings.Split(a.tried, ", ")
		slices.Sort(tried)
		if a.code != 502 || len(slices.Compact(tried)) != 16 {
			t.Errorf("want 502 after 16 different endpoints, got %d after %q", a.code, a.tried)
		}
	})
}

func TestAnotherNginxIsGivenEverything(t *testing.T) {
	everywhere(t, func(t *testing.T, i install) {
		s := start(t, &server{install: i})
		front, other := backend("shop/front/80", backendServer(t, "front")), backend("shop/other/80", backendServer(t, "other"))
		check(t, s.client.Push(t.Context(), backends(front)))
		check(t, s.client.Push(t.Context(), backends(other)))
		before, err := s.client.Status(t.Context())
		check(t, err)
		s.stop(t)
		check(t, os.RemoveAll(s.state+"/run"))
		check(t, os.Mkdir(s.state+"/run", 0o700))
		s.run(t)
		after, err := s.client.Status(t.Context())
		check(t, err)
		if before.Boot == after.Boot {
			t.Fatalf("want another boot, got %q again", after.Boot)
		}
		check(t, s.client.Push(t.Context(), backends(front)))
		s.inAllWorkers(t, "/", wantBody(200, "front"))
		s.inAllWorkers(t, "/other", wantBody(200, "other"))
	})
}

func TestReloadKeepsStateAndCountsLoads(t *testing.T) {
	everywhere(t, func(t *testing.T, i install) {
		s := start(t, &server{install: i})
		check(t, s.client.Push(t.Context(), backends(backend("shop/front/80", backendServer(t, "kept")))))
		s.reload(t)
		s.await(t, "the new workers only", func() bool {
			status, err := s.client.Status(t.Context())
			if err != nil || len(status.Workers) != 2 || status.Expected != 2 {
				return false
			}
			return status.Load == 2 && status.Workers[0].Load == 2 && status.Workers[1].Load == 2
		})
		s.inAllWorkers(t, "/", wantBody(200, "kept"))
	})
}

func TestKilledWorkerIsTakenOffTheList(t *testing.T) {
	everywhere(t, func(t *testing.T, i install) {
		s := start(t, &server{install: i})
		status, err := s.client.Status(t.Context())
		check(t, err)
		victim := status.Workers[0].PID
		process, err := os.FindProcess(victim)
		check(t, err)
		check(t, process.Kill())
		s.await(t, "another worker instead", func() bool {
			status, err := s.client.Status(t.Context())
			return err == nil && len(status.Workers) == 2 && status.Workers[0].PID != victim && status.Workers[1].PID != victim
		})
	})
}

func TestFullDictionaryLosesNothing(t *testing.T) {
	everywhere(t, func(t *testing.T, i install) {
		s := start(t, &server{install: i, Backends: "64k"})
		web := backendServer(t, "web")
		front := backend("shop/front/80", web)
		check(t, s.client.Push(t.Context(), backends(front)))
		many := backends(front)
		for n := range 2000 {
			many.Backends = append(many.Backends, backend(fmt.Sprintf("shop/filler-%04d/80", n), web))
		}
		err := s.client.Push(t.Context(), many)
		if err == nil || !strings.Contains(err.Error(), "no memory") || !strings.Contains(err.Error(), "shop/filler-") {
			t.Fatalf("want an error that says what is full and names a backend, got: %v", err)
		}
		s.inAllWorkers(t, "/", wantBody(200, "web"))

		huge := backend("shop/front/80", web)
		for n := range 4000 {
			huge.Endpoints = append(huge.Endpoints, model.Endpoint{Address: "192.0.2.1", Port: 1 + n})
		}
		if err := s.client.Push(t.Context(), backends(huge)); err == nil {
			t.Fatal("want an error for a value that has no room")
		}
		s.inAllWorkers(t, "/", wantBody(200, "web"))

		check(t, s.client.Retain(t.Context(), backends(front)))
		check(t, s.client.Push(t.Context(), backends(backend("shop/front/80", backendServer(t, "later")))))
		s.inAllWorkers(t, "/", wantBody(200, "later"))
	})
}

func TestRetainDeletes(t *testing.T) {
	everywhere(t, func(t *testing.T, i install) {
		s := start(t, &server{install: i})
		front, other := backend("shop/front/80", backendServer(t, "front")), backend("shop/other/80", backendServer(t, "other"))
		check(t, s.client.Push(t.Context(), backends(front, other)))
		s.inAllWorkers(t, "/other", wantBody(200, "other"))
		check(t, s.client.Retain(t.Context(), backends(front)))
		s.inAllWorkers(t, "/", wantBody(200, "front"))
		s.inAllWorkers(t, "/other", wantBody(503, "503"))
		check(t, s.client.Push(t.Context(), backends(other)))
		s.inAllWorkers(t, "/other", wantBody(200, "other"))
	})
}

func TestRetainDropsWhatAnEarlierControllerPushed(t *testing.T) {
	everywhere(t, func(t *testing.T, i install) {
		s := start(t, &server{install: i})
		before := bound(t, [2]string{"", "default"}, [2]string{"old.example", "old"})
		before.Backends = backends(backend("shop/front/80", backendServer(t, "front")), backend("shop/other/80", backendServer(t, "other"))).Backends
		check(t, s.client.Push(t.Context(), before))

		after := model.Dynamic{Backends: before.Backends[:1], Certificates: before.Certificates[:1], Names: before.Names[:1]}
		later := dynamic.New(s.state + "/run/control.sock")
		check(t, later.Push(t.Context(), after))
		s.inAllWorkers(t, "/other", wantBody(200, "other"))
		s.shown(t, "old.example", "old")
		check(t, later.Retain(t.Context(), after))
		s.inAllWorkers(t, "/", wantBody(200, "front"))
		s.inAllWorkers(t, "/other", wantBody(503, "503"))
		s.shown(t, "old.example", "default")
	})
}

func TestOnlyDifferencesArePushed(t *testing.T) {
	everywhere(t, func(t *testing.T, i install) {
		s := start(t, &server{install: i})
		web := backendServer(t, "web")
		d := bound(t, [2]string{"", "default"})
		d.Backends = []*model.Backend{backend("shop/front/80", web), backend("shop/other/80", web)}
		equal := d
		equal.Backends = []*model.Backend{backend("shop/front/80", web), d.Backends[1]}
		changed := equal
		changed.Backends = []*model.Backend{equal.Backends[0], backend("shop/other/80")}
		for _, step := range []struct {
			name   string
			d      model.Dynamic
			pushes int
		}{{"first", d, 3}, {"the same pointers", d, 0}, {"an equal backend", equal, 0}, {"another backend", changed, 1}, {"again", changed, 0}} {
			before, err := s.client.Status(t.Context())
			check(t, err)
			check(t, s.client.Push(t.Context(), step.d))
			after, err := s.client.Status(t.Context())
			check(t, err)
			if got := after.Version - before.Version; got != step.pushes {
				t.Errorf("%s: want %d pushes, got %d", step.name, step.pushes, got)
			}
		}
	})
}

func TestEndpointThatIsNoAddressIsLeftOutAndNamed(t *testing.T) {
	everywhere(t, func(t *testing.T, i install) {
		s := start(t, &server{install: i})
		bad := backend("shop/front/80", model.Endpoint{Address: "unix:/run/x.sock", Port: 80}, backendServer(t, "web"), model.Endpoint{Address: "192.0.2.1", Port: 0})
		for range 2 {
			err := s.client.Push(t.Context(), backends(bad))
			if err == nil || !strings.Contains(err.Error(), `backend shop/front/80: endpoint "unix:/run/x.sock": want an IPv4 or IPv6 address`) || !strings.Contains(err.Error(), "want a port from 1 to 65535 (got 0)") {
				t.Fatalf("want both endpoints named, got: %v", err)
			}
		}
		s.inAllWorkers(t, "/", wantBody(200, "web"))
	})
}

func TestPushThatWouldGoToDiskIsRefused(t *testing.T) {
	everywhere(t, func(t *testing.T, i install) {
		s := start(t, &server{install: i})
		c := certificate(t, "shop.example")
		c.Chain = bytes.Repeat(c.Chain, 100)
		err := dynamic.New(s.state+"/run/small.sock").Push(t.Context(), model.Dynamic{Certificates: []*model.Certificate{c}})
		if err == nil || !strings.Contains(err.Error(), "500") || !strings.Contains(err.Error(), "client_body_buffer_size") {
			t.Fatalf("want an error that names the directive, got: %v", err)
		}
	})
}

func TestControlRefusesWhatIsTooBig(t *testing.T) {
	everywhere(t, func(t *testing.T, i install) {
		s := start(t, &server{install: i})
		client := s.web()
		client.Transport.(*http.Transport).DialContext = dialUnix(s.state + "/run/control.sock")
		response, err := client.Post("http://nginx/push", "application/json", bytes.NewReader(make([]byte, 17<<20)))
		check(t, err)
		_ = response.Body.Close()
		if response.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("want 413, got %d", response.StatusCode)
		}
	})
}
