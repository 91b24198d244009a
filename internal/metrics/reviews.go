package metrics

import (
	"maps"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sluice/internal/admission/webhook"
	"sluice/internal/metrics/requests"
)

// reviews are the metrics about the admission webhook.
type reviews struct {
	*described
	exists  func(namespace, name string) bool
	expires func() (time.Time, bool)

	passed, failed, expireTime *prometheus.Desc

	mutex  sync.Mutex
	counts map[requests.Ingress]*outcomes
	// most is the number of Ingresses at which those that do not exist are dropped.
	most int

	tested, testing, rendered, rendering, size, roundtrip prometheus.Gauge
	took                                                  prometheus.Histogram
}

// outcomes are the numbers of the reviews of an Ingress.
type outcomes struct{ passed, failed float64 }

// mostUnstored bounds the Ingresses whose reviews are counted, although they do not exist (yet):
// anybody can make up names.
const mostUnstored = 1000

// reviewBuckets go from one small Ingress to what the API server no longer waits for.
var reviewBuckets = []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5, 10}

func newReviews(labels prometheus.Labels, exists func(namespace, name string) bool, expires func() (time.Time, bool)) *reviews {
	d := &described{labels: labels}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: requests.Prefix + "admission_" + name, Help: help, ConstLabels: labels})
	}
	return &reviews{
		described: d, exists: exists, expires: expires, counts: map[requests.Ingress]*outcomes{}, most: mostUnstored,
		passed: d.desc(requests.Prefix+"check_success", "Reviews of an Ingress that could be stored.", "namespace", "ingress"),
		failed: d.desc(requests.Prefix+"check_errors", "Reviews of an Ingress that was rejected. One that is not stored has no name.", "namespace", "ingress"),
		expireTime: d.desc("sluice_webhook_certificate_expire_time_seconds",
			"When the certificate that the admission webhook presents expires, in seconds since 1970; 0 while it has none."),
		tested:    gauge("tested_ingresses", "Ingresses that the last review judged: the reviewed one, and those that share a name with it."),
		testing:   gauge("tested_duration", "Seconds of the judgement of the last review."),
		rendered:  gauge("render_ingresses", "The same number as admission_tested_ingresses."),
		rendering: gauge("render_duration", "Seconds of the last review before its judgement."),
		size:      gauge("config_size", "Bytes of the last review."),
		roundtrip: gauge("roundtrip_duration", "Seconds of the last review."),
		took: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "sluice_review_duration_seconds", Help: "Seconds of the reviews of Ingresses.", Buckets: reviewBuckets, ConstLabels: labels,
		}),
	}
}

func (r *reviews) all() []prometheus.Collector {
	return []prometheus.Collector{r, r.tested, r.testing, r.rendered, r.rendering, r.size, r.roundtrip, r.took}
}

// Reviewed records a review of the admission webhook.
func (m *Metrics) Reviewed(result webhook.Result) {
	if !result.Judged || m.reviews == nil {
		return
	}
	r := m.reviews
	r.count(result)
	r.tested.Set(float64(result.Beside))
	r.rendered.Set(float64(result.Beside))
	r.testing.Set(result.Judging.Seconds())
	r.rendering.Set((result.Took - result.Judging).Seconds())
	r.size.Set(float64(result.Bytes))
	r.roundtrip.Set(result.Took.Seconds())
	r.took.Observe(result.Took.Seconds())
}

// count counts a review, without a name if the Ingress was rejected and does not exist.
func (r *reviews) count(result webhook.Result) {
	of := requests.Ingress{Namespace: result.Namespace, Name: result.Name}
	if !result.Allowed && !r.exists(of.Namespace, of.Name) {
		of = requests.Ingress{}
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.counts[of] == nil {
		r.makeRoom()
		r.counts[of] = &outcomes{}
	}
	if result.Allowed {
		r.counts[of].passed++
	} else {
		r.counts[of].failed++
	}
}

// makeRoom drops the Ingresses that do not exist if there are more than mostUnstored, and twice
// those that did last time.
func (r *reviews) makeRoom() {
	if len(r.counts) < r.most {
		return
	}
	maps.DeleteFunc(r.counts, func(of requests.Ingress, _ *outcomes) bool {
		return of != requests.Ingress{} && !r.exists(of.Namespace, of.Name)
	})
	r.most = 2*len(r.counts) + mostUnstored
}

// Collect implements prometheus.Collector.
func (r *reviews) Collect(to chan<- prometheus.Metric) {
	at := 0.0
	if expires, ok := r.expires(); ok {
		at = float64(expires.Unix())
	}
	to <- prometheus.MustNewConstMetric(r.expireTime, prometheus.GaugeValue, at)
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for of, n := range r.counts {
		to <- prometheus.MustNewConstMetric(r.passed, prometheus.CounterValue, n.passed, of.Namespace, of.Name)
		to <- prometheus.MustNewConstMetric(r.failed, prometheus.CounterValue, n.failed, of.Namespace, of.Name)
	}
}
