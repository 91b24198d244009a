package e2e

import (
	"context"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"

	"sluice/test/kit"
)

// spans is an OpenTelemetry collector.
type spans struct {
	coltracepb.UnimplementedTraceServiceServer
	mutex sync.Mutex
	all   []*tracepb.Span
	port  int
}

func (c *spans) Export(_ context.Context, r *coltracepb.ExportTraceServiceRequest) (*coltracepb.ExportTraceServiceResponse, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, of := range r.ResourceSpans {
		for _, scope := range of.ScopeSpans {
			c.all = append(c.all, scope.Spans...)
		}
	}
	return &coltracepb.ExportTraceServiceResponse{}, nil
}

// of returns the spans of a trace by their last digits: "0" for that of the request, "1" for
// the last try at a backend, "f" for a question. Failed tries have "?".
func (c *spans) of(trace string) map[string]*tracepb.Span {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	found := map[string]*tracepb.Span{}
	var seed string
	for _, s := range c.all {
		if id := hex.EncodeToString(s.SpanId); hex.EncodeToString(s.TraceId) == trace && s.Kind == tracepb.Span_SPAN_KIND_SERVER {
			seed = id[:15]
		}
	}
	for _, s := range c.all {
		if id := hex.EncodeToString(s.SpanId); hex.EncodeToString(s.TraceId) == trace {
			if seed == "" || !strings.HasPrefix(id, seed) {
				id = "?"
			}
			found[id[len(id)-1:]] = s
		}
	}
	return found
}

// wait waits for the spans of a trace with these last digits.
func (c *spans) wait(t *testing.T, trace string, digits ...string) map[string]*tracepb.Span {
	t.Helper()
	var found map[string]*tracepb.Span
	eventually(t, "spans "+strings.Join(digits, " ")+" of "+trace, func() bool {
		found = c.of(trace)
		return !slices.ContainsFunc(digits, func(d string) bool { return found[d] == nil })
	})
	if len(found) != len(digits) {
		t.Errorf("want the spans %v, got %v", digits, found)
	}
	return found
}

// collectSpans starts a collector.
func collectSpans(t *testing.T) *spans {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &spans{port: listener.Addr().(*net.TCPAddr).Port}
	server := grpc.NewServer()
	coltracepb.RegisterTraceServiceServer(server, c)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return c
}

func (c *spans) settings(more ...string) string {
	return settings(append(more, "otlp-collector-host: 127.0.0.1", fmt.Sprintf("otlp-collector-port: \"%d\"", c.port), `otel-schedule-delay-millis: "20"`)...)
}

// traceOf is a header of a client whose trace ends with a number.
func traceOf(number int, flags string) (trace string, header http.Header) {
	trace = fmt.Sprintf("%032x", 0xabc000+number)
	return trace, http.Header{"Traceparent": {"00-" + trace + "-00f067aa0ba902b7-" + flags}}
}

// parents is a server that tells which traceparent each trace came with.
type parents struct {
	*httptest.Server
	mutex sync.Mutex
	of    map[string]string
}

func newParents(t *testing.T, status int) *parents {
	t.Helper()
	p := &parents{of: map[string]string{}}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if parts := strings.Split(r.Header.Get("Traceparent"), "-"); len(parts) == 4 {
			p.mutex.Lock()
			p.of[parts[1]] = parts[2]
			p.mutex.Unlock()
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *parents) get(trace string) string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.of[trace]
}

func id(s *tracepb.Span) string { return hex.EncodeToString(s.SpanId) }

func attribute(s *tracepb.Span, key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return strings.TrimSpace(a.Value.GetStringValue() + strings.TrimPrefix(fmt.Sprint(a.Value.GetIntValue()), "0"))
		}
	}
	return ""
}

// TestTraces follows requests from the client's span over that of Sluice to those of the
// backend and of the server that authenticates: with retries, a refusal and a 502.
func TestTraces(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		collector := collectSpans(t)
		web, auth, denies := newParents(t, 200), newParents(t, 200), newParents(t, 401)
		dead := httptest.NewServer(nil)
		dead.Close()
		own := kit.OwnAddress(t)
		if own == "" {
			t.Skip("this machine has no address but its loopback")
		}
		s := prepare(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web.Server), "half.yaml": service("half", dead, web.Server), "dead.yaml": service("dead", dead),
			"settings.yaml": collector.settings(`enable-opentelemetry: "true"`),
			"servers.yaml":  service("auth", auth.Server) + service("denies", denies.Server) + ingress("servers", "", []string{"/allows Exact auth", "/denies Exact denies"}, "enable-opentelemetry: false"),
			"half.ing.yaml": ingress("half", "half.example", []string{"/ Prefix half"}),
			"dead.ing.yaml": ingress("dead", "dead.example", []string{"/ Prefix dead"}),
			"off.yaml":      ingress("untraced", "off.example", []string{"/ Prefix web"}, "enable-opentelemetry: false"),
		}, "--configmap", "default/config")
		// nginx is the server that authenticates: no other one on this machine may be asked.
		at := fmt.Sprintf("auth-url: http://%s:%d/", own, s.HTTP)
		s.write("a.yaml", ingress("a", "a.example", []string{"/ Prefix web"}, at+"allows"))
		s.write("denies.yaml", ingress("denies", "denies.example", []string{"/ Prefix web"}, at+"denies"))
		s.launch()
		s.waitStatus("http://a.example/", http.StatusOK)
		ask := func(number int, host string, status int) string {
			trace, header := traceOf(number, "01")
			if got, err := s.ask("GET", "http://"+host+"/cart?secret=1", header); err != nil || got.status != status {
				t.Fatalf("%s: %v, %v", host, got, err)
			}
			return trace
		}

		trace := ask(1, "a.example", 200)
		found := collector.wait(t, trace, "0", "1", "f")
		if parent := hex.EncodeToString(found["0"].ParentSpanId); parent != "00f067aa0ba902b7" {
			t.Errorf("the parent of the request is %s", parent)
		}
		if web.get(trace) != id(found["1"]) || auth.get(trace) != id(found["f"]) {
			t.Errorf("the parent of the backend is %s, that of the server that authenticates %s: %v", web.get(trace), auth.get(trace), found)
		}
		for _, digit := range []string{"1", "f"} {
			if string(found[digit].ParentSpanId) != string(found["0"].SpanId) {
				t.Errorf("the parent of %v is not the request", found[digit])
			}
		}
		if got := attribute(found["0"], "url.path"); got != "/cart" || strings.Contains(fmt.Sprint(found), "secret") {
			t.Errorf("the path is %q: %v", got, found)
		}

		// Endpoints are picked in turn, so one of two requests begins with the dead one.
		for number := 10; ; number++ {
			trace := ask(number, "half.example", 200)
			eventually(t, "spans of "+trace, func() bool { return collector.of(trace)["1"] != nil })
			if found := collector.of(trace); found["?"] != nil {
				if attribute(found["?"], "http.response.status_code") != "502" || attribute(found["1"], "http.request.resend_count") != "1" || web.get(trace) != id(found["1"]) {
					t.Errorf("a retry: %v", found)
				}
				break
			}
			if number == 20 {
				t.Fatal("no request was tried again")
			}
		}

		found = collector.wait(t, ask(30, "dead.example", 502), "0", "1", "?")
		if found["0"].Status.GetCode() != tracepb.Status_STATUS_CODE_ERROR || found["1"].Status.GetCode() != tracepb.Status_STATUS_CODE_ERROR {
			t.Errorf("a 502: %v", found)
		}
		found = collector.wait(t, ask(31, "denies.example", 401), "0", "f")
		if attribute(found["f"], "http.response.status_code") != "401" {
			t.Errorf("a refusal: %v", found)
		}
		if trace := ask(32, "off.example", 200); web.get(trace) != "00f067aa0ba902b7" {
			t.Errorf("without tracing, the header is changed: %s", web.get(trace))
		}
		// What a client does not record has no spans.
		trace, header := traceOf(33, "00")
		if _, err := s.ask("GET", "http://a.example/", header); err != nil {
			t.Fatal(err)
		}
		collector.wait(t, ask(34, "a.example", 200), "0", "1", "f")
		if found := collector.of(trace); len(found) != 0 || web.get(trace) == "" {
			t.Errorf("a trace without spans: %v", found)
		}
	})
}

// TestSpansOutliveReloads: a worker that ends sends its last spans, and so does the
// controller.
func TestSpansOutliveReloads(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		collector := collectSpans(t)
		web := backend(t, "web")
		manifests := oneHost(web)
		manifests["settings.yaml"] = collector.settings(`enable-opentelemetry: "true"`, `otel-service-name: "shop"`)
		s := start(t, root, manifests, "--configmap", "default/config")
		s.waitBackend("http://a.example/", "web")
		var traces []string
		for number := range 30 {
			trace, header := traceOf(number, "01")
			traces = append(traces, trace)
			if got, err := s.ask("GET", "http://a.example/", header); err != nil || got.status != 200 {
				t.Fatal(got, err)
			}
			if number%10 == 0 {
				s.write(fmt.Sprintf("more-%d.yaml", number), ingress(fmt.Sprintf("more-%d", number), fmt.Sprintf("more-%d.example", number), []string{"/ Prefix web"}))
			}
		}
		s.stop()
		for _, trace := range traces {
			collector.wait(t, trace, "0", "1")
		}
	})
}

// TestADeadCollectorCostsNothing but its spans, of which the log tells.
func TestADeadCollectorCostsNothing(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		manifests := oneHost(web)
		manifests["settings.yaml"] = (&spans{port: kit.Port(t)}).settings(`enable-opentelemetry: "true"`, `otel-max-queuesize: "10"`)
		s := start(t, root, manifests, "--configmap", "default/config")
		s.waitBackend("http://a.example/", "web")
		for range 100 {
			s.waitStatus("http://a.example/", 200)
		}
		s.waitLine("spans were dropped")
	})
}
