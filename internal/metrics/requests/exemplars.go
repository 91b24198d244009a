package requests

import (
	"sort"
	"time"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// Traced is a request of which a span was recorded.
type Traced struct {
	Host, Namespace, Ingress, Service, Path, Method, Status, Canary string
	// Trace is the ID of its trace, in hexadecimal digits.
	Trace   string
	Seconds float64
	Ended   time.Time
}

// exemplar is a request that stands for those of its bucket.
type exemplar struct {
	trace   string
	seconds float64
	ended   time.Time
}

// Exemplify makes a request the exemplar of its bucket, in place of an earlier one. A request
// whose series is not there yet is left out: the workers send counts and spans apart.
func (s *Store) Exemplify(t Traced) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	l := s.reduce(labels{
		host: t.Host, namespace: t.Namespace, ingress: t.Ingress, service: t.Service, path: t.Path, method: methodOf(t.Method), status: t.Status, canary: t.Canary,
	})
	found := s.series[l]
	for _, f := range s.families {
		if found != nil && f.of == request && found.distributions[request].count > 0 {
			found.distributions[request].exemplify(exemplar{t.Trace, t.Seconds, t.Ended}, f.bounds)
		}
	}
}

func (d *distribution) exemplify(e exemplar, bounds []float64) {
	if d.exemplars == nil {
		d.exemplars = make([]exemplar, len(bounds)+1)
	}
	d.exemplars[sort.SearchFloat64s(bounds, e.seconds)] = e
}

// traceID is the label of an exemplar, by which Grafana finds the trace.
// Source: https://opentelemetry.io/docs/specs/otel/compatibility/prometheus_and_openmetrics/#exemplars
const traceID = "trace_id"

// printExemplars adds the exemplars to the buckets. Those above the last bound need a bucket
// of their own, without an upper bound.
func (d *distribution) printExemplars(out *dto.Histogram) {
	for i, e := range d.exemplars {
		if e.trace == "" {
			continue
		}
		if i == len(out.Bucket) {
			out.Bucket = append(out.Bucket, &dto.Bucket{CumulativeCount: out.SampleCount, UpperBound: &infinite})
		}
		name := traceID
		out.Bucket[i].Exemplar = &dto.Exemplar{Label: []*dto.LabelPair{{Name: &name, Value: &e.trace}}, Value: &e.seconds, Timestamp: timestamppb.New(e.ended)}
	}
}
