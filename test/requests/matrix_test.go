package requests

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"sluice/internal/model"
	"sluice/test/effects"
	"sluice/test/kit"
)

// host is that of an Ingress with an effect, or without any for nil.
func host(e *effects.Effect) string {
	if e == nil {
		return "plain.example"
	}
	return e.Name + ".example"
}

// TestEachRequestThroughEachEffect sends each kind of request to a host without any behaviour, and to
// one of each behaviour: the answers differ only where the behaviour is about that.
func TestEachRequestThroughEachEffect(t *testing.T) {
	t.Parallel()
	compare(t, all(), "")
}

// TestEachCallThroughEachEffect does the same for gRPC calls to Services that speak gRPC.
func TestEachCallThroughEachEffect(t *testing.T) {
	t.Parallel()
	compare(t, calls(), "\nbackend-protocol: GRPC")
}

// compare sends requests to a host with some annotations, and to hosts that have an effect besides.
// Only Problems about gRPC may be told: they say which effects it takes away.
func compare(t *testing.T, requests []request, annotations string) {
	t.Helper()
	large := &effects.Effect{Name: "large", Annotations: large + annotations}
	var beside []*effects.Effect
	manifests := effects.Objects + effects.Ingress("plain", host(nil), "/a", large)
	for _, e := range effects.All() {
		if !e.Ends && !other[e.Name] && (annotations == "" || !slices.Contains(e.Keys(), "backend-protocol")) {
			beside = append(beside, e)
			manifests += effects.Ingress("with-"+e.Name, host(e), "/a", with(large, e)...)
		}
	}
	backend := newBackend(t)
	decides := effects.Endpoints(t)
	for _, installed := range kit.Nginxes(t) {
		t.Run(installed.Name, func(t *testing.T) {
			served := installed.Serve(t, manifests, func(b *model.Backend) []model.Endpoint {
				if b.Target.Host != "" {
					return decides(b)
				}
				return backend
			})
			for _, problem := range served.Problems {
				if annotations == "" || !strings.Contains(strings.ToUpper(problem.Text), "GRPC") {
					t.Error(problem)
				}
			}
			w := &world{served.Environment.HTTPPort, served.Environment.HTTPSPort}
			w.compareAll(t, requests, beside)
			if t.Failed() {
				t.Logf("nginx says:\n%.3000s", served.Complaints(t))
			}
		})
	}
}

// large has limits that the requests keep.
const large = "proxy-body-size: 64m\nproxy-buffer-size: 32k"

// with returns an effect with the limits of large, where it has none.
func with(large, e *effects.Effect) []*effects.Effect {
	lines := slices.DeleteFunc(strings.Split(large.Annotations, "\n"), func(line string) bool {
		name, _, _ := strings.Cut(line, ":")
		return slices.Contains(e.Keys(), name)
	})
	return []*effects.Effect{{Name: "rest", Annotations: strings.Join(lines, "\n")}, e}
}

// other are effects whose backends do not speak HTTP.
var other = map[string]bool{"grpc": true, "fastcgi": true}

// compareAll compares the answers to all requests, several at a time.
func (w *world) compareAll(t *testing.T, requests []request, beside []*effects.Effect) {
	t.Helper()
	const clients = 4
	var group sync.WaitGroup
	next := make(chan request)
	for range clients {
		group.Go(func() {
			for r := range next {
				plain := w.send(t, r, nil)
				if strings.HasPrefix(plain.fault, "nothing") || plain.status == 0 {
					t.Errorf("%s without a behaviour: %s", r.name, plain)
				}
				for _, e := range beside {
					if excepted(e, r) {
						continue
					}
					if got := w.send(t, r, e); got.String() != plain.String() {
						t.Errorf("%s through %s: %s\nwithout it: %s", r.name, e.Name, got, plain)
					}
				}
			}
		})
	}
	for _, r := range requests {
		next <- r
	}
	close(next)
	group.Wait()
}

// excepted reports whether an effect is about a kind of request.
func excepted(e *effects.Effect, r request) bool {
	for _, kind := range about[e.Name] {
		if strings.HasPrefix(r.name, kind) {
			return true
		}
	}
	return e.Name == "auto-http" && r.http2 // it asks the Service by HTTPS then
}

// about are the beginnings of the names of the requests that an effect is about.
var about = map[string][]string{
	"body-size": {"body of ", "chunked", "expect", "gRPC call of 1", "gRPC call of 4"},
	// Its buffers are smaller. nginx before 1.29 takes a 103 for the whole answer, and buffers what
	// follows it as the body.
	"buffers": {"answer with a header of 16 kB", "answer after early hints"},
	// The body that it reads is that of the page.
	"fallback-path": {"answer 404"},
	// It needs HTTP/1.1 and the header Connection.
	"http-version": {"WebSocket"}, "connection-header": {"WebSocket"},
	"cors": {"OPTIONS"},
	// nginx would have to unpack the answer.
	"sub-filter": {"compressed", "range", "conditional"},
	// A part of 10 MB in a moment is what it is against.
	"rate": {"answer of 10 MB"},
}

// seen is an answer, in the parts that no behaviour may change.
type seen struct {
	status int
	// got is what the Service got. body is a hash and the length of the answer.
	got, body string
	cookies   int
	trailer   string
	fault     string
}

func (s seen) String() string {
	return fmt.Sprintf("%d, the Service got %s, body %s, %d cookies, trailer %q %s", s.status, s.got, s.body, s.cookies, s.trailer, s.fault)
}

// digest names a body.
func digest(body []byte) string {
	return fmt.Sprintf("%d bytes %.8s", len(body), cmp.Or(model.SHA256(string(bytes.TrimSpace(body)))))
}
