package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"sluice/internal/metrics/requests"
)

// counted tells how complete the metrics of requests are.
type counted struct {
	*described
	store             *requests.Store
	series, cut, lost *prometheus.Desc
}

func newCounted(s *requests.Store, labels prometheus.Labels) *counted {
	d := &described{labels: labels}
	return &counted{
		described: d, store: s,
		series: d.desc("sluice_request_series", "Combinations of labels of the metrics of requests."),
		cut:    d.desc("sluice_requests_cut_total", "Requests of an Ingress that are in no metrics, because there are as many series as --metrics-series-per-ingress or --metrics-series allow.", "namespace", "ingress"),
		lost:   d.desc("sluice_requests_lost_total", "Requests that are in no metrics, because a worker could not send them for too long."),
	}
}

// Collect implements prometheus.Collector.
func (c *counted) Collect(to chan<- prometheus.Metric) {
	to <- prometheus.MustNewConstMetric(c.series, prometheus.GaugeValue, float64(c.store.Series()))
	cut, lost := c.store.Cut()
	for of, n := range cut {
		to <- prometheus.MustNewConstMetric(c.cut, prometheus.CounterValue, float64(n), of.Namespace, of.Name)
	}
	to <- prometheus.MustNewConstMetric(c.lost, prometheus.CounterValue, float64(lost))
}
