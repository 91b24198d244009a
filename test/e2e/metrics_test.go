package e2e

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/prometheus/common/expfmt"

	dto "github.com/prometheus/client_model/go"

	"sluice/test/kit"
)

// scrape asks for the metrics, as Prometheus does.
func (s *sluice) scrape(header http.Header) map[string]*dto.MetricFamily {
	s.t.Helper()
	request, err := http.NewRequest(http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/metrics", s.Healthz), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header = header
	response, err := (&http.Client{Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}, Timeout: kit.Patience}).Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	body := io.Reader(response.Body)
	if response.Header.Get("Content-Encoding") == "gzip" {
		if body, err = gzip.NewReader(body); err != nil {
			s.t.Fatal(err)
		}
	}
	if response.StatusCode != http.StatusOK {
		s.t.Fatalf("/metrics: status %d", response.StatusCode)
	}
	found := map[string]*dto.MetricFamily{}
	decoder := expfmt.NewDecoder(body, expfmt.ResponseFormat(response.Header))
	for {
		var f dto.MetricFamily
		if err := decoder.Decode(&f); err == io.EOF {
			return found
		} else if err != nil {
			s.t.Fatal(err)
		}
		if found[f.GetName()] != nil {
			s.t.Errorf("%s is there twice", f.GetName())
		}
		found[f.GetName()] = &f
	}
}

// sumOf returns the sum of the series of a metric that have these labels, as name=value.
func sumOf(f *dto.MetricFamily, labels ...string) (sum float64) {
	for _, m := range f.GetMetric() {
		if matches(m, labels) {
			sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return sum
}

func matches(m *dto.Metric, labels []string) bool {
	has := map[string]bool{}
	for _, l := range m.Label {
		has[l.GetName()+"="+l.GetValue()] = true
	}
	for _, l := range labels {
		if !has[l] {
			return false
		}
	}
	return true
}

const requestsMetric = "nginx_ingress_controller_requests"

// waitRequests waits until a number of requests with these labels is counted, and fails at once
// if there are more.
func (s *sluice) waitRequests(want float64, labels ...string) {
	s.t.Helper()
	var got float64
	eventually(s.t, fmt.Sprintf("%v requests with %v", want, labels), func() bool {
		if got = sumOf(s.scrape(nil)[requestsMetric], labels...); got > want {
			s.t.Fatalf("%v requests with %v are counted, want %v", got, labels, want)
		}
		return got == want
	})
}

// TestMetricsCountEachRequestOnce: while requests come as fast as they can, nginx is reloaded
// and changed, and a worker is killed gently, all that were answered are counted, by us as by
// nginx.
func TestMetricsCountEachRequestOnce(t *testing.T) {
	eachNginxAlone(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		manifests := oneHost(web)
		manifests["counted.yaml"] = ingress("counted", "counted.example", []string{"/ Prefix web"})
		s := start(t, root, manifests, "--enable-metrics")
		s.waitBackend("http://a.example/", "web")
		load := s.press("http://counted.example/", 8, 0) // nobody has asked this host before
		for i := range 10 {
			s.write("b.yaml", ingress("b", "b.example", []string{fmt.Sprintf("/v%d Prefix web", i)}))
			s.waitBackend(fmt.Sprintf("http://b.example/v%d", i), "web")
		}
		requests, failed := load.stop()
		if failed > 0 || requests < 100 {
			t.Fatalf("%d of %d requests failed", failed, requests)
		}
		s.waitRequests(float64(requests), "host=counted.example", "status=200", "method=GET", "ingress=counted", "namespace=default", "service=web", "path=/")
		got := s.scrape(nil)
		for _, name := range []string{"request_duration_seconds", "connect_duration_seconds", "header_duration_seconds", "response_duration_seconds", "request_size", "response_size", "bytes_sent"} {
			if n := sumOf(got["nginx_ingress_controller_"+name], "host=counted.example"); n != float64(requests) {
				t.Errorf("%s: %v of %v requests", name, n, requests)
			}
		}
		if own := sumOf(got["nginx_ingress_controller_nginx_process_requests_total"]); own < float64(requests) {
			t.Errorf("nginx itself counts %v requests", own)
		}
		if lost := sumOf(got["sluice_requests_lost_total"]); lost != 0 {
			t.Errorf("%v requests lost", lost)
		}
		t.Logf("%d requests over 10 reloads", requests)
	})
}

// TestMetricsOfAWorkerThatEnds: the last counts of a worker arrive, also if it is stopped
// before it would send them.
func TestMetricsOfAWorkerThatEnds(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		manifests := oneHost(backend(t, "web"))
		manifests["counted.yaml"] = ingress("counted", "counted.example", []string{"/ Prefix web"})
		s := start(t, root, manifests, "--enable-metrics")
		s.waitBackend("http://a.example/", "web")
		for range 20 {
			if got, err := s.get("http://counted.example/"); err != nil || got.status != 200 {
				t.Fatal(got.status, err)
			}
		}
		for _, pid := range workers(s.master()) {
			if err := syscall.Kill(pid, syscall.SIGQUIT); err != nil {
				t.Fatal(err)
			}
		}
		s.waitRequests(20, "host=counted.example")
	})
}

// labelledHosts are Ingresses whose requests have different labels.
const labelledHosts = `
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: stores, namespace: default}
spec:
  ingressClassName: nginx
  rules:
  - host: "*.stores.example"
    http: {paths: [{path: /api, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: guarded
  namespace: default
  annotations:
    nginx.ingress.kubernetes.io/auth-url: http://a.example:%d/denied
spec:
  ingressClassName: nginx
  rules:
  - host: guarded.example
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: moved, namespace: default, annotations: {nginx.ingress.kubernetes.io/permanent-redirect: "https://elsewhere.example/"}}
spec:
  ingressClassName: nginx
  rules:
  - host: moved.example
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: canary, namespace: default, annotations: {nginx.ingress.kubernetes.io/canary: "true", nginx.ingress.kubernetes.io/canary-by-header: X-New}}
spec:
  ingressClassName: nginx
  rules:
  - host: a.example
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: new, port: {number: 80}}}}]}
`

// TestMetricsHaveLabels: each request is in one series, with the labels of its place.
func TestMetricsHaveLabels(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web, fresh := backend(t, "web"), backend(t, "new")
		manifests := oneHost(web)
		manifests["new.yaml"] = service("new", fresh)
		manifests["secure.yaml"] = ingress("secure", "secure.example", []string{"/ Prefix web", "/x Prefix web"}, "force-ssl-redirect: true")
		manifests["many.yaml"] = fmt.Sprintf(labelledHosts, portOf(web))
		s := start(t, root, manifests, "--enable-metrics")
		ask := func(method, url string, header http.Header) {
			t.Helper()
			if _, err := s.ask(method, url, header); err != nil {
				t.Fatal(err)
			}
		}
		ask("PUT", "http://x.stores.example/api/1", nil)
		ask("GET", "http://x.stores.example/other", nil)
		ask("BREW", "http://y.stores.example/api", nil)
		ask("GET", "http://guarded.example/x", nil)
		ask("GET", "http://moved.example/x", nil)
		ask("GET", "http://nobody.example/", nil)
		ask("GET", "http://a.example/", http.Header{"X-New": {"always"}})
		s.waitRequests(1, "host=*.stores.example", "method=PUT", "path=/api", "status=200", "ingress=stores", "service=web")
		s.waitRequests(1, "host=*.stores.example", "method=OTHER", "path=/api", "ingress=stores")
		s.waitRequests(1, "host=*.stores.example", "method=GET", "path=", "status=404")
		s.waitRequests(1, "host=guarded.example", "ingress=guarded", "path=/")
		s.waitRequests(1, "host=moved.example", "ingress=moved", "path=/", "status=301")
		s.waitRequests(1, "host=a.example", "canary=default-new-80", "service=web")
		if _, err := s.ask("GET", "http://secure.example/", nil); err != nil {
			t.Fatal(err)
		}
		s.waitRequests(1, "host=secure.example", "ingress=secure", "namespace=default", "status=308", "path=")
		s.waitRequests(7) // the unknown host is not counted, nor is the question to the authentication server
	})
}

// TestCausesOfReloads: what needed no reload is no cause of the next one.
func TestCausesOfReloads(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		manifests := oneHost(backend(t, "web"))
		manifests["config.yaml"] = settings()
		s := start(t, root, manifests, "--configmap", "default/config", "--enable-metrics")
		s.waitBackend("http://a.example/", "web")
		s.write("config.yaml", settings(`controller-log-level: debug`))
		s.waitLine(`level=DEBUG msg="endpoints and certificates pushed"`)
		s.write("b.yaml", ingress("b", "b.example", []string{"/ Prefix web"}))
		s.waitBackend("http://b.example/", "web")
		eventually(t, "a reload for the Ingress", func() bool {
			return sumOf(s.scrape(nil)["sluice_reloads_total"], "cause=hosts") == 1
		})
		if n := sumOf(s.scrape(nil)["sluice_reloads_total"], "cause=settings"); n != 0 {
			t.Errorf("%v reloads for the settings", n)
		}
	})
}

// TestOrphans: an Ingress whose Service is missing or has no endpoints is told apart.
func TestOrphans(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		manifests := oneHost(backend(t, "web"))
		manifests["empty.yaml"] = service("empty")
		manifests["b.yaml"] = ingress("b", "b.example", []string{"/ Prefix empty"})
		manifests["c.yaml"] = ingress("c", "c.example", []string{"/ Prefix missing"})
		s := start(t, root, manifests, "--enable-metrics")
		s.waitBackend("http://a.example/", "web")
		const metric = "nginx_ingress_controller_orphan_ingress"
		eventually(t, "two orphans", func() bool {
			f := s.scrape(nil)[metric]
			return sumOf(f, "ingress=b", "namespace=default", "type=no-endpoint") == 1 && sumOf(f, "ingress=c", "type=no-service") == 1 && sumOf(f) == 2
		})
	})
}

func TestMetricsOfUndefinedHosts(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		s := start(t, root, oneHost(backend(t, "web")), "--enable-metrics", "--metrics-per-undefined-host", "--report-status-classes")
		for _, host := range []string{"one.example", "two.example", "two.example"} {
			s.waitStatus("http://"+host+"/", 404)
		}
		s.waitRequests(1, "host=one.example", "status=4xx", "ingress=")
		s.waitRequests(2, "host=two.example", "status=4xx", "ingress=")
	})
}

// TestSeriesOfADeletedIngressGo also shows that those of another stay.
func TestSeriesOfADeletedIngressGo(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		manifests := oneHost(backend(t, "web"))
		manifests["b.yaml"] = ingress("b", "b.example", []string{"/ Prefix web"})
		s := start(t, root, manifests, "--enable-metrics")
		s.waitBackend("http://a.example/", "web")
		s.waitBackend("http://b.example/", "web")
		eventually(t, "both are counted", func() bool {
			f := s.scrape(nil)[requestsMetric]
			return sumOf(f, "ingress=a") > 0 && sumOf(f, "ingress=b") > 0
		})
		s.remove("b.yaml")
		eventually(t, "no more series of b", func() bool { return sumOf(s.scrape(nil)[requestsMetric], "ingress=b") == 0 })
		if sumOf(s.scrape(nil)[requestsMetric], "ingress=a") == 0 {
			t.Error("the series of the other Ingress are gone")
		}
	})
}

// alwaysThere are the metrics of ingress-nginx that a controller without a cluster has, after
// "nginx_ingress_controller_".
const alwaysThere = `requests connect_duration_seconds header_duration_seconds response_duration_seconds request_duration_seconds
	request_size response_size bytes_sent config_hash config_last_reload_successful
	config_last_reload_successful_timestamp_seconds success errors ssl_expire_time_seconds ssl_certificate_info
	build_info nginx_process_connections_total nginx_process_requests_total
	nginx_process_connections nginx_process_num_procs nginx_process_cpu_seconds_total
	nginx_process_read_bytes_total nginx_process_write_bytes_total nginx_process_resident_memory_bytes
	nginx_process_virtual_memory_bytes nginx_process_oldest_start_time_seconds`

// TestMetricsInEachFormat: text and protocol buffers have the same metrics, also
// with native histograms, and compressed.
func TestMetricsInEachFormat(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		s := start(t, root, oneHost(backend(t, "web")), "--enable-metrics", "--bucket-factor", "1.1")
		s.waitBackend("http://a.example/", "web")
		for name, header := range map[string]http.Header{
			"text": {}, "gzip": {"Accept-Encoding": {"gzip"}}, "quality": {"Accept-Encoding": {"br, gzip;q=0.5"}},
			"protobuf": {"Accept": {"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"}},
		} {
			t.Run(name, func(t *testing.T) {
				found := map[string]*dto.MetricFamily{}
				eventually(t, "a request", func() bool {
					found = s.scrape(header)
					return sumOf(found[requestsMetric], "host=a.example") > 0
				})
				for metric := range strings.FieldsSeq(alwaysThere) {
					if found["nginx_ingress_controller_"+metric] == nil {
						t.Errorf("%s is missing", metric)
					}
				}
				if name == "protobuf" && found["nginx_ingress_controller_request_duration_seconds"].Metric[0].Histogram.Schema == nil {
					t.Error("no native histogram")
				}
			})
		}
	})
}

// TestMetricsAreOffByDefault: then nginx counts nothing, and /metrics is about the process.
func TestMetricsAreOffByDefault(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		s := start(t, root, oneHost(backend(t, "web")))
		s.waitBackend("http://a.example/", "web")
		for name := range s.scrape(nil) {
			if !strings.HasPrefix(name, "go_") && !strings.HasPrefix(name, "process_") && !strings.HasPrefix(name, "promhttp_") {
				t.Errorf("%s without --enable-metrics", name)
			}
		}
		conf, err := os.ReadFile(filepath.Join(s.State, "nginx.conf"))
		if err != nil || strings.Contains(string(conf), "metric") {
			t.Errorf("nginx.conf: %v\n%s", err, conf)
		}
	})
}

// TestMetricsWithoutIngresses: nginx knows the variables also while no location sets them.
func TestMetricsWithoutIngresses(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		s := start(t, root, map[string]string{"class.yaml": class}, "--enable-metrics")
		s.waitStatus("http://nobody.example/", 404)
		if n := sumOf(s.scrape(nil)["nginx_ingress_controller_success"]); n != 1 {
			t.Errorf("%v loads", n)
		}
	})
}
