package requests

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// ofIngressNginx are the default buckets.
var ofIngressNginx = Buckets{
	Time:   []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10},
	Length: []float64{10, 20, 30, 40, 50, 60, 70, 80, 90, 100},
	Size:   []float64{10, 100, 1000, 10000, 100000, 1e6, 1e7},
}

// filled returns a store with a series for each of n Ingresses.
func filled(n int) *Store {
	s := New(Options{
		PerHost: true, Buckets: ofIngressNginx, MostOfIngress: 500, Most: 20000,
		Labels: map[string]string{"controller_namespace": "ingress-nginx", "controller_class": "k8s.io/ingress-nginx", "controller_pod": "ingress-nginx-controller-7d4f9c5b7-x2x9z"},
	})
	for i := range n {
		s.Add(fmt.Appendf(nil, "0\n3\tshop-%d.example team-%d/shop-%d/web-%[1]d/80\t/api/\tGET\t200\t\t0.012\t180\t1500\t0.001\t0.011\t0.012", i, i%97, i))
	}
	return s
}

// BenchmarkScrape10000 has 10,000 Ingresses with a series each scraped, in the text format, with
// and without gzip. The budget is half a second.
func BenchmarkScrape10000(b *testing.B) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s := filled(10000)
	runtime.GC()
	runtime.ReadMemStats(&after)
	for _, encoding := range []string{"identity", "gzip"} {
		b.Run(encoding, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var size counter
				var to io.WriteCloser = &size
				if encoding == "gzip" {
					to, _ = gzip.NewWriterLevel(&size, gzip.BestSpeed)
				}
				if err := errors.Join(s.WriteText(to), to.Close()); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(size)/1e6, "MB")
			}
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1e6, "MB-kept")
		})
	}
}

// counter counts bytes.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

func (c *counter) Close() error { return nil }
