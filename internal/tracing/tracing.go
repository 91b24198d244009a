// Package tracing takes the records of spans from nginx's workers, and exports the spans to
// an OpenTelemetry collector.
//
// In go datagrams on a unix socket, each with the number of records that were lost and a line
// of JSON for each record: rootfs/etc/nginx/lua/sluice/trace.lua writes them. Out go spans by
// OTLP over gRPC or HTTP. Nothing here waits for the collector but the export: what
// has no room in the queue is dropped and counted, and the log says so once a minute.
package tracing

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"sluice/internal/datagram"
	"sluice/internal/metrics/requests"
	"sluice/internal/settings"
)

// Exporter exports the spans of nginx's workers. Use Listen.
type Exporter struct {
	log    *slog.Logger
	socket *net.UnixConn
	queue  *queue
	// open makes a client; tests replace it.
	open func(settings.Tracing) (client, error)

	mutex    sync.Mutex
	settings settings.Tracing
	heard    func(requests.Traced)
	// exported and dropped count spans.
	exported, dropped atomic.Uint64
	// changed is signalled when the settings have changed. done is closed at the end of the
	// export, which cancel hurries.
	changed, done chan struct{}
	cancel        context.CancelFunc
}

// Listen opens the socket, in place of one that a former process left, and begins to read
// and to export. Without a collector in the settings, spans are dropped.
func Listen(path string, log *slog.Logger) (*Exporter, error) {
	socket, err := datagram.Listen(path)
	if err != nil {
		return nil, err
	}
	e := &Exporter{
		log: log, socket: socket, queue: newQueue(), open: dial,
		changed: make(chan struct{}, 1), done: make(chan struct{}),
	}
	ctx, cancel := context.WithCancel(context.Background())
	e.cancel = cancel
	read := make(chan struct{})
	go func() {
		defer close(read)
		e.read()
	}()
	go func() {
		defer close(e.done)
		e.export(ctx, read)
	}()
	return e, nil
}

// Configure sets the settings in force. It returns at once.
func (e *Exporter) Configure(s settings.Tracing) {
	e.mutex.Lock()
	same := e.settings == s
	e.settings = s
	e.mutex.Unlock()
	if same {
		return
	}
	e.queue.resize(s.QueueSize, s.BatchSize, s.Records())
	select {
	case e.changed <- struct{}{}:
	default:
	}
}

// Hear has a function called for each request with a recorded span, one call at a time.
func (e *Exporter) Hear(of func(requests.Traced)) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.heard = of
}

// tell tells the requests of records to the function of Hear.
func (e *Exporter) tell(records []*record) {
	e.mutex.Lock()
	heard := e.heard
	e.mutex.Unlock()
	if heard == nil || !e.current().Records() {
		return
	}
	for _, r := range records {
		if !r.Question {
			heard(r.request())
		}
	}
}

// Counts returns how many spans the collector took, and how many were dropped.
func (e *Exporter) Counts() (exported, dropped uint64) { return e.exported.Load(), e.dropped.Load() }

func (e *Exporter) current() settings.Tracing {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.settings
}

// Close exports what the workers have sent, until ctx ends at the latest, and closes the
// socket. It is called once, when nginx has stopped.
func (e *Exporter) Close(ctx context.Context) {
	defer e.cancel()
	_ = e.socket.SetReadDeadline(time.Now().Add(lastRead)) // the reads of what is there come first
	select {
	case <-e.done:
	case <-ctx.Done():
	}
}

// lastRead is how long the last datagrams may take to read.
const lastRead = 50 * time.Millisecond

// read reads datagrams until the socket is closed.
func (e *Exporter) read() {
	defer e.socket.Close()
	buffer := make([]byte, datagram.Longest)
	for {
		n, err := e.socket.Read(buffer)
		if err != nil {
			return
		}
		records, lost := decode(buffer[:n])
		var spans []*tracepb.Span
		for _, r := range records {
			spans = append(spans, r.spans()...)
		}
		e.queue.add(spans, lost)
		e.tell(records)
	}
}
