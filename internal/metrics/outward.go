package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
)

// outward tells what the controller asks DNS, and what it sends to the collector of traces.
type outward struct {
	*described
	options                             Options
	names, questions, failures, spanned *prometheus.Desc
}

func newOutward(o Options, labels prometheus.Labels) *outward {
	d := &described{labels: labels}
	return &outward{
		described: d, options: o,
		names:     d.desc("sluice_dns_names", "Names of ExternalName services and of annotations: resolved, and troubled (without an address, or with a refused one).", "state"),
		questions: d.desc("sluice_dns_questions_total", "Questions to DNS. One has all addresses of a name."),
		failures:  d.desc("sluice_dns_failures_total", "Questions that DNS did not answer."),
		spanned:   d.desc("sluice_spans_total", "Spans of traces by what became of them: exported or dropped.", "result"),
	}
}

// Collect implements prometheus.Collector.
func (c *outward) Collect(to chan<- prometheus.Metric) {
	counter := func(d *prometheus.Desc, value uint64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(value), labels...)
	}
	names := c.options.Names()
	to <- prometheus.MustNewConstMetric(c.names, prometheus.GaugeValue, float64(names.Names-names.Troubled), "resolved")
	to <- prometheus.MustNewConstMetric(c.names, prometheus.GaugeValue, float64(names.Troubled), "troubled")
	counter(c.questions, names.Questions)
	counter(c.failures, names.Failures)
	exported, dropped := c.options.Spans()
	counter(c.spanned, exported, "exported")
	counter(c.spanned, dropped, "dropped")
}
