package requests

import (
	"fmt"
	"net/http"
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
// one of each behaviour. The answers are those of nginx by hand where that does the same; elsewhere
// they differ from the answer without the behaviour only where the behaviour is about that.
func TestEachRequestThroughEachEffect(t *testing.T) {
	t.Parallel()
	backend, decides := newBackend(t), effects.Endpoints(t)
	deciding := decides(&model.Backend{Target: model.Target{Host: "auth.test"}})
	for _, installed := range kit.Nginxes(t) {
		t.Run(installed.Name, func(t *testing.T) {
			has, lacks := effects.Of(installed)
			served := installed.Serve(t, manifests(effects.All()), func(b *model.Backend) []model.Endpoint {
				if b.Target.Host != "" {
					return decides(b)
				}
				return backend
			})
			for _, problem := range served.Problems {
				ofCall := strings.HasPrefix(problem.Object.Name, "call-") && strings.Contains(strings.ToUpper(problem.Text), "GRPC")
				if lacking := len(lacks) > 0 && strings.Contains(problem.Text, effects.ModSecurity); !ofCall && !lacking {
					t.Error(problem)
				}
			}
			m := &matrix{ours: &world{port: served.Environment.HTTPPort, securePort: served.Environment.HTTPSPort}, has: has, lacks: lacks, saw: map[string]bool{}}
			m.byHand = startByHand(t, installed, has, served, backend, deciding)
			kit.Each(all(), clients, func(r request) { m.compare(t, r) })
			kit.Each(calls(), clients, func(r request) { m.compareCall(t, r) })
			if ours, theirs := m.ours.followed(t), m.byHand.followed(t); ours != theirs {
				t.Errorf("after early hints: %s\nnginx by hand: %s", ours, theirs)
			} else {
				t.Log("after early hints: ", ours)
			}
			for _, d := range differences {
				if !d.chance && !m.saw[d.why] {
					t.Errorf("no answer differs any more because %s", d.why)
				}
			}
			if t.Failed() {
				t.Logf("nginx says:\n%.3000s", served.Complaints(t))
			}
		})
	}
}

// manifests are Ingresses for requests and for gRPC calls: one of each effect, and one without any.
func manifests(all []*effects.Effect) string {
	plain := &effects.Effect{Name: "large", Annotations: large}
	call := &effects.Effect{Name: "large", Annotations: large + "\nbackend-protocol: GRPC"}
	text := effects.Objects + effects.Ingress("plain", host(nil), "/a", plain) + effects.Ingress("call-plain", callHost(nil), "/a", call)
	for _, e := range all {
		text += effects.Ingress("with-"+e.Name, host(e), "/a", with(plain, e)...)
		if takesCalls(e) && e.Needs == "" {
			text += effects.Ingress("call-"+e.Name, callHost(e), "/a", with(call, e)...)
		}
	}
	return text
}

// callHost is that of an Ingress whose Service speaks gRPC.
func callHost(e *effects.Effect) string { return "call." + host(e) }

// takesCalls reports whether gRPC calls pass an effect.
func takesCalls(e *effects.Effect) bool {
	return !e.Ends && !slices.Contains(e.Keys(), "backend-protocol")
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

// clients is the number of requests that are sent at a time.
const clients = 4

// matrix is an nginx of Sluice, and one by hand beside it.
type matrix struct {
	ours, byHand *world
	has, lacks   []*effects.Effect
	mu           sync.Mutex
	saw          map[string]bool // the differences that occurred
}

// compare compares the answers to a request.
func (m *matrix) compare(t *testing.T, r request) {
	plain := m.ours.send(t, r, host(nil), nil)
	if strings.HasPrefix(plain.fault, "nothing") || plain.status == 0 {
		t.Errorf("%s without a behaviour: %s", r.name, plain)
	}
	m.hold(t, r, nil, plain, m.byHand.send(t, r, host(nil), nil))
	for _, e := range m.has {
		if other[e.Name] && r.wait > 0 {
			continue
		}
		_, known := byHand[e.Name]
		if known && (r.small() || !m.passesAs(e, r)) {
			m.hold(t, r, e, m.ours.send(t, r, host(e), e), m.byHand.send(t, r, host(e), e))
			continue
		}
		if m.passesAs(e, r) {
			if got := m.ours.send(t, r, host(e), e); got.String() != plain.String() {
				t.Errorf("%s through %s: %s\nwithout it: %s", r.name, e.Name, got, plain)
			}
		}
	}
	for _, e := range m.lacks {
		if got := m.ours.send(t, r, host(e), e); got.got != "" || got.status < http.StatusBadRequest || r.name == "HEAD" && got.status != http.StatusServiceUnavailable {
			t.Errorf("%s through %s, which this nginx lacks: %s, want 503", r.name, e.Name, got)
		}
	}
}

// passesAs reports whether a request passes an effect as it passes without it.
func (m *matrix) passesAs(e *effects.Effect, r request) bool {
	return !e.Ends && !other[e.Name] && !excepted(e, r)
}

// compareCall compares the answers to a gRPC call.
func (m *matrix) compareCall(t *testing.T, r request) {
	plain := m.ours.send(t, r, callHost(nil), nil)
	if strings.HasPrefix(plain.fault, "nothing") || plain.status == 0 {
		t.Errorf("%s without a behaviour: %s", r.name, plain)
	}
	for _, e := range m.has {
		if !takesCalls(e) || e.Needs != "" || excepted(e, r) {
			continue
		}
		if got := m.ours.send(t, r, callHost(e), e); got.String() != plain.String() {
			t.Errorf("%s through %s: %s\nwithout it: %s", r.name, e.Name, got, plain)
		}
	}
}

// hold wants the same answer as that of nginx by hand, but for differences with a reason.
func (m *matrix) hold(t *testing.T, r request, e *effects.Effect, ours, theirs seen) {
	for _, d := range differences {
		if d.is(r, e, ours, theirs) {
			d.mend(&ours, &theirs)
			m.mu.Lock()
			m.saw[d.why] = true
			m.mu.Unlock()
		}
	}
	if ours != theirs {
		t.Errorf("%s through %q: %s\nnginx by hand: %s", r.name, name(e), ours.whole(), theirs.whole())
	}
}

// other are effects whose backends do not speak HTTP.
var other = map[string]bool{"grpc": true, "fastcgi": true}

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
	"body-size":    {"body of ", "chunked", "expect", "gRPC call of 1", "gRPC call of 4"},
	"error-status": {"body of ", "chunked", "expect", "gRPC call of 1", "gRPC call of 4"},
	// The limits of its recommended settings.
	"modsecurity": {"body of 20971520", "chunked body of 20971520"},
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

// seen is an answer. String has the parts that no behaviour may change.
type seen struct {
	status int
	// got is what the Service got. body is a hash and the length of the answer.
	got, body string
	cookies   int
	trailer   string
	fault     string
	// request is what the Service got, with its headers; headers are those of the answer.
	request, headers string
}

func (s seen) String() string {
	return fmt.Sprintf("%d, the Service got %s, body %s, %d cookies, trailer %q %s", s.status, s.got, s.body, s.cookies, s.trailer, s.fault)
}

// whole has all parts.
func (s seen) whole() string { return fmt.Sprintf("%s\n  of %s\n  with %s", s, s.request, s.headers) }

// digest names a body.
func digest(body []byte) string {
	return fmt.Sprintf("%d bytes %.8s", len(body), model.SHA256(string(body)))
}
