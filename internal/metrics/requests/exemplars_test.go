package requests

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/testing/protocmp"
)

// TestExemplarsAreThoseOfTheClientLibrary, in each bucket the last one, also above the last
// bound.
func TestExemplarsAreThoseOfTheClientLibrary(t *testing.T) {
	s := New(small)
	line := "0\n1\tshop.example shop/web/cart/80\t/cart\tGET\t200\t\t%s\t1\t1\t\t\t"
	theirs := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "x", Buckets: small.Buckets.Time})
	request := Traced{Host: "shop.example", Namespace: "shop", Ingress: "web", Service: "cart", Path: "/cart", Method: "GET", Status: "200", Ended: time.Unix(1700000000, 5e6)}
	for _, c := range []struct {
		seconds float64
		text    string
		trace   string
	}{{0.005, "0.005", "1"}, {0.006, "0.006", "2"}, {0.05, "0.05", ""}, {0.1, "0.1", ""}, {3, "3", "3"}} {
		s.Add([]byte(strings.Replace(line, "%s", c.text, 1)))
		if c.trace == "" {
			theirs.Observe(c.seconds)
			continue
		}
		request.Seconds, request.Trace = c.seconds, c.trace
		s.Exemplify(request)
		theirs.(prometheus.ExemplarObserver).ObserveWithExemplar(c.seconds, prometheus.Labels{"trace_id": c.trace})
	}
	var want dto.Metric
	check(t, theirs.Write(&want))
	for _, b := range want.Histogram.Bucket {
		if b.Exemplar != nil {
			b.Exemplar.Timestamp.Seconds, b.Exemplar.Timestamp.Nanos = 1700000000, 5e6
		}
	}
	if diff := cmp.Diff(want.Histogram, histogramOf(t, s), protocmp.Transform(), protocmp.IgnoreFields(&dto.Histogram{}, "created_timestamp")); diff != "" {
		t.Error(diff)
	}
}

// histogramOf returns the durations of the only series.
func histogramOf(t *testing.T, s *Store) *dto.Histogram {
	t.Helper()
	all, err := s.Gather()
	check(t, err)
	for _, f := range all {
		if f.GetName() == Prefix+"request_duration_seconds" && len(f.Metric) == 1 {
			return f.Metric[0].Histogram
		}
	}
	t.Fatal("no single histogram of durations")
	return nil
}

// TestExemplarsOfOtherSeries are left out: a trace is no reason for a series.
func TestExemplarsOfOtherSeries(t *testing.T) {
	for name, of := range map[string]Traced{
		"an unknown host": {Host: "other.example", Namespace: "shop", Ingress: "web", Service: "cart", Path: "/cart", Method: "GET", Status: "200"},
		"another status":  {Host: "shop.example", Namespace: "shop", Ingress: "web", Service: "cart", Path: "/cart", Method: "GET", Status: "500"},
		"nothing":         {},
	} {
		s := New(small)
		s.Add([]byte("0\n1\tshop.example shop/web/cart/80\t/cart\tGET\t200\t\t0.1\t1\t1\t\t\t"))
		of.Trace, of.Seconds = "1", 0.1
		s.Exemplify(of)
		if s.Series() != 1 || strings.Contains(histogramOf(t, s).String(), "exemplar") {
			t.Errorf("%s: %d series, %v", name, s.Series(), histogramOf(t, s))
		}
	}
}
