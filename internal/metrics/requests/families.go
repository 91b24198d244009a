package requests

import (
	"slices"

	dto "github.com/prometheus/client_model/go"
)

// metric is what a family measures.
type metric int

const (
	connect metric = iota
	header
	response
	request
	length
	sizeOfResponse
	bytesSent
	metrics // the number of distributions
	count   = metrics
)

// family is a metric with its name.
type family struct {
	of         metric
	name, help string
	// bounds are the upper bounds of buckets, in order. native is set if there is a native
	// histogram besides, of the schema and with the most buckets.
	bounds []float64
	native bool
	schema int32
	most   int
}

// Prefix begins the names of ingress-nginx's metrics.
const Prefix = "nginx_ingress_controller_"

// familiesOf returns the families that are not excluded, sorted by name.
func familiesOf(o Options) []family {
	all := []family{
		{of: bytesSent, name: "bytes_sent", help: "Bytes sent to clients.", bounds: o.Buckets.Size},
		{of: connect, name: "connect_duration_seconds", help: "Seconds to connect to a backend.", bounds: o.Buckets.Time, native: true},
		{of: header, name: "header_duration_seconds", help: "Seconds until a backend sent the header of its response.", bounds: o.Buckets.Time, native: true},
		{of: request, name: "request_duration_seconds", help: "Seconds from the first byte of a request to the last of its response.", bounds: o.Buckets.Time, native: true},
		{of: length, name: "request_size", help: "Bytes of requests, with header and body.", bounds: o.Buckets.Length, native: true},
		{of: count, name: "requests", help: "Requests."},
		{of: response, name: "response_duration_seconds", help: "Seconds until a backend sent the end of its response.", bounds: o.Buckets.Time, native: true},
		{of: sizeOfResponse, name: "response_size", help: "Bytes of responses, with header and body.", bounds: o.Buckets.Length, native: true},
	}
	var kept []family
	for _, f := range all {
		f.name = Prefix + f.name
		if f.native = f.native && o.Buckets.Factor > 1; f.native {
			f.schema, f.most = schemaOf(o.Buckets.Factor), o.Buckets.Most
		}
		if !slices.Contains(o.Excluded, f.name) {
			kept = append(kept, f)
		}
	}
	return kept
}

// Names returns the names of all metrics.
func Names() []string {
	var names []string
	for _, f := range familiesOf(Options{}) {
		names = append(names, f.name)
	}
	return names
}

// Helps returns the help of each metric by its name.
func Helps() map[string]string {
	helps := map[string]string{}
	for _, f := range familiesOf(Options{}) {
		helps[f.name] = f.help
	}
	return helps
}

// print returns the family of all series, nil if no series has it.
func (f family) print(all []*series) *dto.MetricFamily {
	kind := dto.MetricType_HISTOGRAM
	if f.of == count {
		kind = dto.MetricType_COUNTER
	}
	out := &dto.MetricFamily{Name: &f.name, Help: &f.help, Type: &kind, Metric: make([]*dto.Metric, 0, len(all))}
	for _, s := range all {
		switch {
		case f.of == count:
			value := s.requests
			out.Metric = append(out.Metric, &dto.Metric{Label: s.pairs, Counter: &dto.Counter{Value: &value}})
		case s.distributions[f.of].count > 0:
			out.Metric = append(out.Metric, &dto.Metric{Label: s.pairs, Histogram: s.distributions[f.of].print(f)})
		}
	}
	if len(out.Metric) == 0 {
		return nil
	}
	return out
}
