package tracing

import (
	"context"
	"net"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"sluice/internal/settings"
)

// client is a connection to a collector.
type client = otlptrace.Client

const (
	// sendTimeout is the longest time for a batch, with its retries.
	sendTimeout = 10 * time.Second
	// remarkEvery is the shortest time between two log lines about spans that were lost.
	remarkEvery = time.Minute
	// stopTimeout is the longest time for the end of a connection.
	stopTimeout = time.Second
)

// dial makes a client. It does not wait for a connection.
func dial(s settings.Tracing) (client, error) {
	address := net.JoinHostPort(s.CollectorHost, strconv.Itoa(s.CollectorPort))
	var c client
	if s.Protocol == "http" {
		c = otlptracehttp.NewClient(otlptracehttp.WithEndpoint(address), otlptracehttp.WithInsecure(), otlptracehttp.WithTimeout(sendTimeout),
			otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: true, InitialInterval: time.Second, MaxInterval: 5 * time.Second, MaxElapsedTime: sendTimeout}))
	} else {
		c = otlptracegrpc.NewClient(otlptracegrpc.WithEndpoint(address), otlptracegrpc.WithInsecure(), otlptracegrpc.WithTimeout(sendTimeout),
			otlptracegrpc.WithRetry(otlptracegrpc.RetryConfig{Enabled: true, InitialInterval: time.Second, MaxInterval: 5 * time.Second, MaxElapsedTime: sendTimeout}))
	}
	return c, c.Start(context.Background())
}

// sender sends batches with the settings in force.
type sender struct {
	*Exporter
	settings settings.Tracing
	client   client // nil for none
	// lost counts spans since the last remark; why is the last error.
	lost     int
	why      error
	remarked time.Time
}

// export sends batches until the exporter closes and the last datagram is read.
func (e *Exporter) export(ctx context.Context, read <-chan struct{}) {
	s := &sender{Exporter: e}
	defer s.stop()
	for {
		timer := time.NewTimer(s.delay())
		select {
		case <-e.changed:
			s.reopen()
		case <-e.queue.full:
			s.batch(ctx)
		case <-timer.C:
			s.all(ctx)
		case <-read:
			s.reopen()
			s.all(ctx)
			s.remarked = time.Time{}
			s.remark()
			return
		}
		timer.Stop()
		s.remark()
	}
}

// delay is how long spans wait for others.
func (s *sender) delay() time.Duration {
	if s.client == nil {
		return remarkEvery
	}
	return time.Duration(s.settings.Delay) * time.Millisecond
}

// reopen connects to the collector of the settings, if that is another one.
func (s *sender) reopen() {
	before, now := s.settings, s.current()
	s.settings = now
	if s.client != nil && before.CollectorHost == now.CollectorHost && before.CollectorPort == now.CollectorPort && before.Protocol == now.Protocol {
		return
	}
	s.stop()
	if !now.Records() {
		return
	}
	c, err := s.open(now)
	if err != nil {
		s.why = err
		return
	}
	s.client = c
}

func (s *sender) stop() {
	if s.client == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	_ = s.client.Stop(ctx)
	s.client = nil
}

// all sends what waits.
func (s *sender) all(ctx context.Context) {
	for s.batch(ctx) {
	}
}

// batch sends the next batch. It returns false if there is none, or if it failed.
func (s *sender) batch(ctx context.Context) bool {
	spans := s.queue.take()
	if len(spans) == 0 {
		return false
	}
	if s.client == nil {
		s.lose(len(spans))
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	if err := s.client.UploadTraces(ctx, []*tracepb.ResourceSpans{resource(s.settings.ServiceName, spans)}); err != nil {
		s.lose(len(spans))
		s.why = err
		return false
	}
	s.exported.Add(uint64(len(spans)))
	return true
}

func (s *sender) lose(spans int) {
	s.lost += spans
	s.dropped.Add(uint64(spans))
}

// resource wraps spans with the name of the service.
func resource(service string, spans []*tracepb.Span) *tracepb.ResourceSpans {
	return &tracepb.ResourceSpans{
		Resource:   &resourcepb.Resource{Attributes: []*commonpb.KeyValue{text("service.name", service)}},
		ScopeSpans: []*tracepb.ScopeSpans{{Scope: &commonpb.InstrumentationScope{Name: "sluice"}, Spans: spans}},
	}
}

// remark logs the number of spans that were lost, at most once a minute.
func (s *sender) remark() {
	s.lose(s.queue.lost())
	if s.lost == 0 || time.Since(s.remarked) < remarkEvery {
		return
	}
	args := []any{"spans", s.lost}
	if s.why != nil {
		args = append(args, "error", s.why)
	}
	s.log.Warn("spans were dropped", args...)
	s.lost, s.why, s.remarked = 0, nil, time.Now()
}
