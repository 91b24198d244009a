package tracing

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"sluice/internal/model"
	"sluice/internal/settings"
)

// collector is an OTLP receiver over both protocols.
type collector struct {
	coltracepb.UnimplementedTraceServiceServer
	got chan *tracepb.ResourceSpans
}

func (c *collector) Export(_ context.Context, r *coltracepb.ExportTraceServiceRequest) (*coltracepb.ExportTraceServiceResponse, error) {
	for _, spans := range r.ResourceSpans {
		c.got <- spans
	}
	return &coltracepb.ExportTraceServiceResponse{}, nil
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	request := &coltracepb.ExportTraceServiceRequest{}
	if err = errors.Join(err, proto.Unmarshal(body, request)); err != nil || r.URL.Path != "/v1/traces" {
		http.Error(w, "no traces", http.StatusBadRequest)
		return
	}
	_, _ = c.Export(r.Context(), request)
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// collect starts a collector and returns the settings for it.
func collect(t *testing.T, protocol string) (*collector, settings.Tracing) {
	t.Helper()
	c := &collector{got: make(chan *tracepb.ResourceSpans, 100)}
	s, _ := settings.Read(nil)
	of := s.Tracing
	of.Protocol, of.Delay, of.CollectorHost = protocol, 1, "127.0.0.1"
	if protocol == "http" {
		server := httptest.NewServer(c)
		t.Cleanup(server.Close)
		of.CollectorPort = portOf(t, server.Listener.Addr())
		return c, of
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	coltracepb.RegisterTraceServiceServer(server, c)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	of.CollectorPort = portOf(t, listener.Addr())
	return c, of
}

func portOf(t *testing.T, address net.Addr) int {
	t.Helper()
	_, port, _ := net.SplitHostPort(address.String())
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// lines is a log.
type lines struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.String()
}

// listen starts an exporter, and returns a connection as of a worker.
func listen(t *testing.T) (*Exporter, net.Conn, *lines) {
	t.Helper()
	path := filepath.Join(t.TempDir(), model.TracesSocket)
	log := &lines{}
	var e *Exporter
	for range 2 { // the second one replaces the socket of the first
		var err error
		if e, err = Listen(path, slog.New(slog.NewTextHandler(log, nil))); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { e.Close(t.Context()) })
	}
	worker, err := net.Dial("unixgram", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { worker.Close() })
	return e, worker, log
}

func send(t *testing.T, worker net.Conn, data []byte) {
	t.Helper()
	if _, err := worker.Write(data); err != nil {
		t.Fatal(err)
	}
}

func TestSpansReachTheCollector(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"grpc", "http"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			c, of := collect(t, protocol)
			e, worker, log := listen(t)
			e.Configure(of)
			send(t, worker, []byte("no JSON"))
			send(t, worker, sent(0, recordOf(contextOf(nobody), `"method":"GET","status":"200"`), "no JSON"))
			got := <-c.got
			if name := valueOf(got.Resource.Attributes[0]); name != "nginx" {
				t.Errorf("the service is %q", name)
			}
			if spans := got.ScopeSpans[0].Spans; len(spans) != 1 || spans[0].Name != "GET /cart" {
				t.Errorf("spans: %v", spans)
			}
			if log.String() != "" {
				t.Error(log)
			}
		})
	}
}

func TestCloseExportsWhatWaits(t *testing.T) {
	t.Parallel()
	c, of := collect(t, "grpc")
	of.Delay = 60_000
	e, worker, _ := listen(t)
	e.Configure(of)
	for range 20 {
		send(t, worker, sent(0, recordOf(contextOf(nobody), `"method":"GET"`)))
	}
	e.Close(t.Context())
	close(c.got)
	count := 0
	for got := range c.got {
		count += len(got.ScopeSpans[0].Spans)
	}
	if count != 20 {
		t.Errorf("%d of 20 spans", count)
	}
}

// refusing is a collector that takes nothing.
type refusing struct{ client }

func (refusing) UploadTraces(context.Context, []*tracepb.ResourceSpans) error {
	return errors.New("refused")
}
func (refusing) Stop(context.Context) error { return nil }

func TestAnUnreachableCollectorCostsDropsOnly(t *testing.T) {
	t.Parallel()
	log := &lines{}
	e := &Exporter{log: slog.New(slog.NewTextHandler(log, nil)), queue: newQueue(), open: func(settings.Tracing) (client, error) { return refusing{}, nil }}
	e.settings = settings.Tracing{CollectorHost: "none.test", QueueSize: 10, BatchSize: 4}
	e.queue.resize(10, 4, true)
	s := &sender{Exporter: e}
	s.reopen()
	e.queue.add(make([]*tracepb.Span, 25), 5)
	if len(e.queue.spans) != 10 {
		t.Errorf("%d spans wait", len(e.queue.spans))
	}
	for range 4 {
		s.all(t.Context())
		s.remark()
	}
	text := log.String()
	if !strings.Contains(text, "spans were dropped") || !strings.Contains(text, "spans=24") || !strings.Contains(text, "error=refused") || strings.Count(text, "\n") != 1 {
		t.Errorf("one line, about 15 + 5 without room and the first batch: %s", text)
	}
}

func TestWithoutACollectorNothingIsKept(t *testing.T) {
	t.Parallel()
	q := newQueue()
	q.add(make([]*tracepb.Span, 3), 1)
	q.resize(10, 4, true)
	q.add(make([]*tracepb.Span, 3), 0)
	q.resize(10, 4, false)
	if len(q.spans) != 0 || q.lost() != 0 {
		t.Errorf("%d wait", len(q.spans))
	}
}
