package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"sluice/internal/debug"
	"sluice/internal/metrics"
	"sluice/internal/metrics/requests"
	"sluice/internal/model"
	"sluice/internal/render"
)

// metricsFlags are the flags about metrics. Their names and defaults are those of
// ingress-nginx.
type metricsFlags struct {
	enabled, perHost, undefinedHosts, classes bool
	excluded                                  []string
	time, length, size                        []string
	factor                                    float64
	mostBuckets                               int
	// These limit the series of requests.
	mostOfIngress, most int
	buckets             requests.Buckets
}

// Defaults of the limits.
const (
	seriesOfIngress = 500
	seriesInAll     = 20000
)

func (f *metricsFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.enabled, "enable-metrics", false, "serve metrics of requests, nginx and the controller at /metrics of --healthz-port; metrics of the process are always there")
	flags.BoolVar(&f.perHost, "metrics-per-host", true, "give metrics of requests the label host")
	flags.BoolVar(&f.undefinedHosts, "metrics-per-undefined-host", false, "also count requests for hosts that no Ingress has, each host that clients ask for by its name")
	flags.BoolVar(&f.classes, "report-status-classes", false, "give metrics of requests the class of a status, such as 2xx")
	flags.StringSliceVar(&f.excluded, "exclude-socket-metrics", nil, "names of metrics of requests to leave out, separated by commas")
	flags.StringSliceVar(&f.time, "time-buckets", []string{"0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1", "2.5", "5", "10"}, "upper bounds of the buckets of durations, in seconds")
	flags.StringSliceVar(&f.length, "length-buckets", []string{"10", "20", "30", "40", "50", "60", "70", "80", "90", "100"}, "upper bounds of the buckets of request_size and response_size, in bytes")
	flags.StringSliceVar(&f.size, "size-buckets", []string{"10", "100", "1000", "10000", "100000", "1e+06", "1e+07"}, "upper bounds of the buckets of bytes_sent, in bytes")
	flags.Float64Var(&f.factor, "bucket-factor", 0, "growth of the buckets of native histograms, such as 1.1; none if it is 1 or less")
	flags.IntVar(&f.mostBuckets, "max-buckets", 100, "the most buckets of a native histogram; 0 is no limit")
	flags.IntVar(&f.mostOfIngress, "metrics-series-per-ingress", seriesOfIngress, "the most combinations of labels that metrics of requests have for an Ingress; requests beyond are counted in sluice_requests_cut_total only")
	flags.IntVar(&f.most, "metrics-series", seriesInAll, "the most such combinations in all; an Ingress has 10 also beyond them")
}

// validate reads the lists, and returns an error with the flag, its value and a valid one.
func (f *metricsFlags) validate() error {
	f.buckets.Factor, f.buckets.Most = f.factor, f.mostBuckets
	for _, list := range []struct {
		flag string
		from []string
		to   *[]float64
	}{
		{"time-buckets", f.time, &f.buckets.Time}, {"length-buckets", f.length, &f.buckets.Length}, {"size-buckets", f.size, &f.buckets.Size},
	} {
		bounds, err := boundsOf(list.from)
		if err != nil {
			return fmt.Errorf("--%s: %w", list.flag, err)
		}
		*list.to = bounds
	}
	for _, name := range f.excluded {
		if !strings.HasPrefix(name, requests.Prefix) {
			return fmt.Errorf("--exclude-socket-metrics: want names such as %s (got %q)", strings.Join(requests.Names(), ", "), name)
		}
	}
	switch {
	case f.undefinedHosts && !f.perHost:
		return fmt.Errorf("--metrics-per-undefined-host: want it together with --metrics-per-host (got --metrics-per-host=false)")
	case math.IsNaN(f.factor) || math.IsInf(f.factor, 0) || f.factor < 0:
		return fmt.Errorf("--bucket-factor: want a number such as 1.1, or 0 (got %v)", f.factor)
	case f.mostBuckets < 0:
		return fmt.Errorf("--max-buckets: want 0 or more (got %d)", f.mostBuckets)
	case f.mostOfIngress < 1 || f.most < 1:
		return fmt.Errorf("--metrics-series-per-ingress and --metrics-series: want 1 or more (got %d and %d)", f.mostOfIngress, f.most)
	}
	return nil
}

// boundsOf reads the upper bounds of buckets.
func boundsOf(list []string) ([]float64, error) {
	var bounds []float64
	for _, text := range list {
		bound, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || math.IsNaN(bound) || math.IsInf(bound, 0) || len(bounds) > 0 && bound <= bounds[len(bounds)-1] {
			return nil, fmt.Errorf("want numbers that grow, separated by commas (got %s)", strings.Join(list, ","))
		}
		bounds = append(bounds, bound)
	}
	return bounds, nil
}

// rendered says what nginx's workers count.
func (f *metricsFlags) rendered() render.Metrics {
	without := func(name string) bool { return slices.Contains(f.excluded, requests.Prefix+name+"_duration_seconds") }
	return render.Metrics{
		Requests: f.enabled, UndefinedHosts: f.undefinedHosts || !f.perHost,
		WithoutConnect: without("connect"), WithoutHeader: without("header"), WithoutResponse: without("response"),
	}
}

// metrics returns the metrics of the controller. state returns what it has published.
func (p *parts) metrics(f *runFlags, state func() *debug.State) *metrics.Metrics {
	pod, _ := thisPod()
	client := p.options.Runtime
	for _, name := range f.excluded {
		if !slices.Contains(requests.Names(), name) { // as in ingress-nginx
			p.options.Log.Warn("--exclude-socket-metrics: this is no metric of requests, so nothing is excluded", "name", name, "known", strings.Join(requests.Names(), ", "))
		}
	}
	o := metrics.Options{
		Enabled: f.enabled, Socket: filepath.Join(p.options.StateDir, "run", model.MetricsSocket), Log: p.options.Log,
		Requests: requests.Options{
			PerHost: f.perHost, StatusClasses: f.classes, Excluded: f.excluded, Buckets: f.buckets, MostOfIngress: f.mostOfIngress, Most: f.most,
		},
		Class: f.ControllerClass, Namespace: pod.Namespace, Pod: pod.Name, Version: version,
		Process: p.options.Process, Status: statusOf(client), Pushes: client.Pushes, Names: p.options.Resolver.Counts, Spans: p.traces.Counts,
		State: state, Election: f.electionID,
	}
	if p.presented != nil {
		o.WebhookExpires = p.presented.Expires
	}
	if p.options.Environment.Capabilities.StubStatus {
		o.Counters = client.Counters
	}
	if p.cluster != nil && p.cluster.elector != nil {
		o.Leads = p.cluster.elector.IsLeader
	}
	return metrics.New(o)
}
