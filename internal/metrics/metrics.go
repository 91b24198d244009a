// Package metrics serves the metrics of a controller for Prometheus: those of requests, which
// nginx's workers count; those of nginx; and those of the controller itself. Names and labels
// of the metrics that ingress-nginx has are the same; others begin with "sluice_".
//
// Everything but the requests is read when it is asked for. A sync waits for none of it.
package metrics

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"sluice/internal/datagram"
	"sluice/internal/debug"
	"sluice/internal/metrics/requests"
	"sluice/internal/nginx"
	"sluice/internal/resolver"
)

// Options describe the controller. The functions must be safe for concurrent use.
type Options struct {
	// Enabled is set for more than the metrics of Go and of this process.
	Enabled bool
	// Socket is the path on which nginx's workers send their counts.
	Socket string
	// Requests configures the metrics of requests. Its Labels and Exists are set here.
	Requests requests.Options
	// Class is the value of spec.controller of our IngressClasses. Namespace and Pod are
	// those of this process, empty outside a cluster.
	Class, Namespace, Pod string
	// Version is that of this program.
	Version string
	// Process is nginx, Status asks its workers, and Counters its counters; Counters is nil
	// if nginx has none.
	Process  *nginx.Process
	Status   nginx.StatusFunc
	Counters func(context.Context) ([]byte, error)
	// State returns the last published state, nil before the first.
	State func() *debug.State
	// Pushes returns the number of pushes to nginx, and of those that failed.
	Pushes func() (all, failed uint64)
	// Names returns the counts of the resolver. Spans returns how many spans were exported,
	// and how many were dropped.
	Names func() resolver.Counts
	Spans func() (exported, dropped uint64)
	// Leads reports whether this replica leads, and Election names the Lease; Leads is nil
	// without an election.
	Leads    func() bool
	Election string
	// WebhookExpires returns when the certificate of the admission webhook expires, false if it
	// has none; it is nil without a webhook.
	WebhookExpires func() (time.Time, bool)
	Log            *slog.Logger
}

// Metrics are the metrics of a controller. Use New.
type Metrics struct {
	options  Options
	registry *prometheus.Registry
	requests *requests.Store
	syncs    *syncs
	reviews  *reviews
	// scrapeTime is shorter in tests.
	scrapeTime time.Duration
}

// New registers the metrics. It opens nothing.
func New(o Options) *Metrics {
	m := &Metrics{options: o, registry: prometheus.NewRegistry(), scrapeTime: scrapeTime}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	labels := prometheus.Labels{"controller_namespace": o.Namespace, "controller_class": o.Class, "controller_pod": o.Pod}
	m.syncs = newSyncs(labels)
	if !o.Enabled {
		return m
	}
	o.Requests.Labels, o.Requests.Exists = labels, m.exists
	m.requests = requests.New(o.Requests)
	m.options = o
	m.registry.MustRegister(m.syncs.all()...)
	if o.WebhookExpires != nil {
		m.reviews = newReviews(labels, m.exists, o.WebhookExpires)
		m.registry.MustRegister(m.reviews.all()...)
	}
	m.registry.MustRegister(newStateCollector(o, labels), newProcesses(o, labels), newCounted(m.requests, labels), newOutward(o, labels))
	if o.Counters != nil {
		m.registry.MustRegister(newCounters(o, labels))
	}
	return m
}

// exists reports whether an Ingress is in the newest snapshot.
func (m *Metrics) exists(namespace, name string) bool {
	state := m.options.State()
	return state == nil || state.Snapshot == nil || hasIngress(state, namespace, name)
}

// Listen takes the counts of nginx's workers until ctx ends.
func (m *Metrics) Listen(ctx context.Context) error {
	if m.requests == nil {
		return nil
	}
	socket, err := datagram.Listen(m.options.Socket)
	if err != nil {
		return fmt.Errorf("--enable-metrics: %w", err)
	}
	context.AfterFunc(ctx, func() { _ = socket.Close() })
	go func() {
		buffer := make([]byte, datagram.Longest)
		for {
			n, err := socket.Read(buffer)
			if err != nil {
				return
			}
			m.requests.Add(buffer[:n])
		}
	}()
	return nil
}

// Exemplify makes a traced request the exemplar of its bucket of request_duration_seconds.
func (m *Metrics) Exemplify(of requests.Traced) {
	if m.requests != nil {
		m.requests.Exemplify(of)
	}
}

// A scrape takes at most scrapeTime: Prometheus gives up after 10 s. At most mostScrapes are
// answered at a time.
const (
	scrapeTime  = 10 * time.Second
	mostScrapes = 4
)

// Handler answers scrapes in the format that the client asks for. A client that does not read
// loses its connection in time: it must not keep the place of others.
func (m *Metrics) Handler() http.Handler {
	room := make(chan struct{}, mostScrapes)
	return promhttp.InstrumentMetricHandler(m.registry, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case room <- struct{}{}:
			defer func() { <-room }()
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(m.scrapeTime)) // a test's writer has none
			m.serve(w, r)
		default:
			http.Error(w, fmt.Sprintf("%d scrapes are being answered; try again", mostScrapes), http.StatusServiceUnavailable)
		}
	}))
}

// serve answers a scrape. A part that cannot be collected is left out and logged.
func (m *Metrics) serve(w http.ResponseWriter, r *http.Request) {
	format := expfmt.Negotiate(r.Header)
	w.Header().Set("Content-Type", string(format))
	w.Header().Add("Vary", "Accept-Encoding")
	to := io.Writer(w)
	if takesGzip(r.Header) {
		w.Header().Set("Content-Encoding", "gzip")
		compressed, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // the level is valid
		defer func() { _ = compressed.Close() }()
		to = compressed
	}
	all, err := m.registry.Gather()
	if err != nil {
		m.options.Log.Warn("some metrics cannot be collected", "error", err)
	}
	if encode(to, format, all) != nil || m.requests == nil {
		return
	}
	_ = m.writeRequests(to, format)
}

// writeRequests writes the metrics of requests. The text format, which Prometheus asks for by
// default, is written as it is made.
func (m *Metrics) writeRequests(to io.Writer, format expfmt.Format) error {
	if format.FormatType() == expfmt.TypeTextPlain {
		return m.requests.WriteText(to)
	}
	all, err := m.requests.Gather()
	return errors.Join(err, encode(to, format, all))
}

// encode writes families. Its error is that of a client that has gone or does not read.
func encode(to io.Writer, format expfmt.Format, all []*dto.MetricFamily) error {
	encoder := expfmt.NewEncoder(to, format)
	for _, one := range all {
		if err := encoder.Encode(one); err != nil {
			return err
		}
	}
	return nil
}

// takesGzip reports whether a client takes gzip.
// Source: RFC 9110, 12.5.3
func takesGzip(header http.Header) bool {
	for part := range strings.SplitSeq(strings.Join(header.Values("Accept-Encoding"), ","), ",") {
		coding, quality, weighted := strings.Cut(part, ";")
		quality = strings.TrimPrefix(strings.ReplaceAll(quality, " ", ""), "q=")
		if strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			return !weighted || strings.Trim(quality, "0.") != ""
		}
	}
	return false
}
