package metrics

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"sluice/internal/metrics/requests"
)

const protobuf = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"

// served serves the metrics of series, each of which a scrape has some 90 times.
func served(t *testing.T, series int, scrapeTime time.Duration) *httptest.Server {
	t.Helper()
	bounds := prometheus.LinearBuckets(1, 1, 10)
	m := &Metrics{
		options: Options{Log: slog.New(slog.DiscardHandler)}, registry: prometheus.NewRegistry(), scrapeTime: scrapeTime,
		requests: requests.New(requests.Options{MostOfIngress: series, Most: series, Buckets: requests.Buckets{Time: bounds, Length: bounds, Size: bounds}}),
	}
	m.registry.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "of_the_controller"}))
	for i := range series {
		m.requests.Add(fmt.Appendf(nil, "0\n1\th shop/web/web/80\t/%d\tGET\t200\t\t0.1\t1\t1\t0.1\t0.1\t0.1", i))
	}
	server := httptest.NewServer(m.Handler())
	t.Cleanup(server.Close)
	return server
}

// get asks for the metrics and reads them all.
func get(t *testing.T, server *httptest.Server, accept string) (int, map[string]*dto.MetricFamily) {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", accept)
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	found := map[string]*dto.MetricFamily{}
	if response.StatusCode != http.StatusOK {
		_, _ = io.Copy(io.Discard, response.Body)
		return response.StatusCode, nil
	}
	for decoder := expfmt.NewDecoder(response.Body, expfmt.ResponseFormat(response.Header)); ; {
		var f dto.MetricFamily
		if err := decoder.Decode(&f); err == io.EOF {
			return response.StatusCode, found
		} else if err != nil {
			t.Fatal(err)
		}
		found[f.GetName()] = &f
	}
}

// TestClientsThatDoNotRead lose their connections, so that others are answered, in each format.
func TestClientsThatDoNotRead(t *testing.T) {
	t.Parallel()
	for name, accept := range map[string]string{"text": "text/plain", "protobuf": protobuf} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := served(t, 5000, 3*time.Second)
			for range mostScrapes {
				eventually(t, "the beginning of an answer", func() bool { return begin(t, server, accept) })
			}
			client := &http.Client{Timeout: 20 * time.Second}
			eventually(t, "a scrape that is answered", func() bool { return statusOf(t, client, server.URL) == http.StatusOK })
		})
	}
}

// begin asks for the metrics and reads the status only. It reports whether that is 200: on a busy
// machine the time of a scrape may end before its answer begins.
func begin(t *testing.T, server *httptest.Server, accept string) bool {
	t.Helper()
	connection, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	_, _ = fmt.Fprintf(connection, "GET / HTTP/1.1\r\nHost: x\r\nAccept: %s\r\n\r\n", accept)
	status := make([]byte, len("HTTP/1.1 200"))
	_, err = io.ReadFull(connection, status)
	return err == nil && string(status) == "HTTP/1.1 200"
}

// statusOf asks for the metrics and reads the status only.
func statusOf(t *testing.T, client *http.Client, url string) int {
	t.Helper()
	response, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode
}

// eventually polls until done returns true, and fails the test after 20 s.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// TestFormats: each format has the same metrics, those of the controller and those of requests.
func TestFormats(t *testing.T) {
	t.Parallel()
	server := served(t, 3, scrapeTime)
	for _, accept := range []string{"", "text/plain", protobuf} {
		status, found := get(t, server, accept)
		if status != http.StatusOK || found["of_the_controller"] == nil || len(found[requests.Prefix+"requests"].GetMetric()) != 3 ||
			len(found[requests.Prefix+"request_duration_seconds"].GetMetric()) != 3 {
			t.Errorf("%q: status %d, %d families", accept, status, len(found))
		}
	}
}
