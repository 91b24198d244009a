package e2e

import (
	"net/http"
	"slices"
	"testing"

	dto "github.com/prometheus/client_model/go"
)

// TestExemplars: a histogram names a trace that the collector has.
func TestExemplars(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		collector := collectSpans(t)
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", backend(t, "web")), "settings.yaml": collector.settings(`enable-opentelemetry: "true"`),
			"new.yaml":      service("new", backend(t, "new")),
			"canary.yaml":   ingress("canary", "traced.example", []string{"/cart Prefix new"}, "canary: true", "canary-by-header: X-New"),
			"traced.yaml":   ingress("traced", "traced.example", []string{"/cart Prefix web"}),
			"untraced.yaml": ingress("untraced", "untraced.example", []string{"/ Prefix web"}, "enable-opentelemetry: false"),
		}, "--configmap", "default/config", "--enable-metrics")
		s.waitBackend("http://untraced.example/", "web")
		var exemplars []*dto.Exemplar
		eventually(t, "an exemplar", func() bool {
			if got, err := s.ask(http.MethodGet, "http://traced.example/cart/1", nil); err != nil || got.status != http.StatusOK {
				t.Fatalf("%+v, %v", got, err)
			}
			exemplars = exemplarsOf(s.scrape(http.Header{"Accept": {protobuf}})["nginx_ingress_controller_request_duration_seconds"], "ingress=traced", "path=/cart", "status=200")
			return len(exemplars) > 0
		})
		for _, e := range exemplars {
			at := slices.IndexFunc(e.Label, func(l *dto.LabelPair) bool { return l.GetName() == "trace_id" })
			if at < 0 || e.GetValue() < 0 || e.GetTimestamp().GetSeconds() == 0 {
				t.Fatalf("the exemplar is %v", e)
			}
			collector.wait(t, e.Label[at].GetValue(), "0", "1")
		}
		eventually(t, "an exemplar of the canary", func() bool {
			if got, err := s.ask(http.MethodGet, "http://traced.example/cart/1", http.Header{"X-New": {"always"}}); err != nil || got.backend != "new" {
				t.Fatalf("%+v, %v", got, err)
			}
			return len(exemplarsOf(s.scrape(http.Header{"Accept": {protobuf}})["nginx_ingress_controller_request_duration_seconds"], "ingress=traced", "canary=default-new-80")) > 0
		})
		if exported := sumOf(s.scrape(nil)["sluice_spans_total"], "result=exported"); exported < 2 {
			t.Errorf("%v spans were exported", exported)
		}
		if of := exemplarsOf(s.scrape(http.Header{"Accept": {protobuf}})["nginx_ingress_controller_request_duration_seconds"], "ingress=untraced"); len(of) > 0 {
			t.Errorf("without a trace: %v", of)
		}
	})
}

// protobuf is what Prometheus asks for if it takes exemplars of classic histograms.
const protobuf = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"

func exemplarsOf(f *dto.MetricFamily, labels ...string) (found []*dto.Exemplar) {
	for _, m := range f.GetMetric() {
		for _, b := range m.GetHistogram().GetBucket() {
			if matches(m, labels) && b.Exemplar != nil {
				found = append(found, b.Exemplar)
			}
		}
	}
	return found
}
