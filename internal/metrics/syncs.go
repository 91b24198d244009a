package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sluice/internal/metrics/requests"
	"sluice/internal/report"
)

// syncs are the metrics about syncs and reloads.
type syncs struct {
	successful, at        prometheus.Gauge
	reloads, failures     prometheus.Counter
	stages                *prometheus.HistogramVec
	results, reloadCauses *prometheus.CounterVec
	ran                   bool
}

// stageBuckets go from what a change of endpoints takes to what a reload of 10,000 hosts does.
var stageBuckets = []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30}

func newSyncs(labels prometheus.Labels) *syncs {
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: requests.Prefix + name, Help: help, ConstLabels: labels})
	}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: requests.Prefix + name, Help: help, ConstLabels: labels})
	}
	return &syncs{
		successful: gauge("config_last_reload_successful", "Whether the last attempt to load a configuration succeeded."),
		at:         gauge("config_last_reload_successful_timestamp_seconds", "When nginx loaded a configuration last, in seconds since 1970."),
		reloads:    counter("success", "Configurations that nginx has loaded."),
		failures:   counter("errors", "Configurations that nginx could not load."),
		stages: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "sluice_sync_duration_seconds", ConstLabels: labels, Buckets: stageBuckets,
			Help: "Seconds of the stages of a sync: load, decide, push, test, live, settled; and of all.",
		}, []string{"stage"}),
		results: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_syncs_total", Help: "Syncs by their result: reload, no-reload, or failed.", ConstLabels: labels,
		}, []string{"result"}),
		reloadCauses: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_reloads_total", ConstLabels: labels,
			Help: "Reloads of nginx by their cause: start, restart (of nginx), templates, settings, streams, passthrough, hosts, or other. The first that holds counts.",
		}, []string{"cause"}),
	}
}

func (s *syncs) all() []prometheus.Collector {
	return []prometheus.Collector{s.successful, s.at, s.reloads, s.failures, s.stages, s.results, s.reloadCauses}
}

// Synced records the result of a sync.
func (m *Metrics) Synced(line report.SyncLine) { m.syncs.record(line) }

func (s *syncs) record(line report.SyncLine) {
	for stage, took := range map[string]time.Duration{
		"all": line.Took, "load": line.Load, "decide": line.Decide, "push": line.Push, "test": line.Test, "live": line.Live, "settled": line.Settled,
	} {
		if took > 0 {
			s.stages.WithLabelValues(stage).Observe(took.Seconds())
		}
	}
	switch {
	case line.Err != nil:
		s.results.WithLabelValues("failed").Inc()
		s.failures.Inc()
		s.successful.Set(0)
	case line.Reload:
		s.results.WithLabelValues("reload").Inc()
		s.reloads.Inc()
		s.successful.Set(1)
		s.at.SetToCurrentTime()
		s.reloadCauses.WithLabelValues(line.Cause).Inc()
		s.ran = true
	default:
		s.results.WithLabelValues("no-reload").Inc()
		if s.ran && line.Bytes > 0 {
			s.successful.Set(1) // what failed was taken back: nginx has the file that it should have
		}
	}
}
