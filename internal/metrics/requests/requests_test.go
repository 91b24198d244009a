package requests

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"google.golang.org/protobuf/testing/protocmp"
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// small are few buckets, so that expected texts are short.
var small = Options{PerHost: true, Buckets: Buckets{Time: []float64{0.01, 0.1}, Length: []float64{100}, Size: []float64{1000}}, MostOfIngress: 3, Most: 5}

func textOfStore(t testing.TB, s *Store) string {
	t.Helper()
	var out bytes.Buffer
	check(t, s.WriteText(&out))
	return out.String()
}

// only returns the lines of a metric.
func only(text, name string) string {
	var kept []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, Prefix+name) {
			kept = append(kept, strings.TrimPrefix(line, Prefix))
		}
	}
	return strings.Join(kept, "")
}

func TestRecordsAddUp(t *testing.T) {
	s := New(small)
	s.Add([]byte("0\n2\tshop.example shop/web/cart/80\t/cart\tGET\t200\t\t0.012\t180\t1500\t0.000\t0.011\t0.012"))
	s.Add([]byte("4\n1\tshop.example shop/web/cart/80\t/cart\tGET\t200\t\t0.200\t50\t300\t0.001, 0.002\t-, 0.1\t0.050, 0.100 : 0.200\n" +
		"1\tshop.example\t\tGET\t404\t\t0.000\t50\t300\t\t\t"))
	labels := `canary="",host="shop.example",ingress="web",method="GET",namespace="shop",path="/cart",service="cart",status="200"`
	text := textOfStore(t, s)
	for name, want := range map[string]string{
		"requests": `requests{canary="",host="shop.example",ingress="",method="GET",namespace="",path="",service="",status="404"} 1
requests{LABELS} 3
`,
		"request_duration_seconds_bucket{" + labels: `request_duration_seconds_bucket{LABELS,le="0.01"} 0
request_duration_seconds_bucket{LABELS,le="0.1"} 2
request_duration_seconds_bucket{LABELS,le="+Inf"} 3
`,
		"request_duration_seconds_sum{" + labels: "request_duration_seconds_sum{LABELS} 0.224\n",
		"response_duration_seconds_sum":          "response_duration_seconds_sum{LABELS} 0.224\n", // the last try's
		"connect_duration_seconds_sum":           "connect_duration_seconds_sum{LABELS} 0.002\n",
		"header_duration_seconds_count":          "header_duration_seconds_count{LABELS} 3\n",
		"bytes_sent_sum{" + labels:               "bytes_sent_sum{LABELS} 3300\n",
		"response_size_sum{" + labels:            "response_size_sum{LABELS} 3300\n",
		"request_size_bucket{" + labels:          "request_size_bucket{LABELS,le=\"100\"} 1\nrequest_size_bucket{LABELS,le=\"+Inf\"} 3\n",
	} {
		if got := only(text, name); got != strings.ReplaceAll(want, "LABELS", labels) {
			t.Errorf("%s: want\n%sgot\n%s", name, strings.ReplaceAll(want, "LABELS", labels), got)
		}
	}
	if _, lost := s.Cut(); lost != 4 {
		t.Errorf("want 4 lost requests, got %d", lost)
	}
}

func TestLabels(t *testing.T) {
	line := "1\t%s\t%s\t%s\t%s\tshop-new-80\t0.1\t1\t1\t\t\t"
	for _, c := range []struct {
		change              func(*Options)
		place, path, method string
		status, want        string
	}{
		{nil, "shop.example shop/web/web/80", "/a b", "BREW", "201", `canary="shop-new-80",host="shop.example",ingress="web",method="OTHER",namespace="shop",path="/a b",service="web",status="201"`},
		{nil, "shop.example shop/web//", "/\"\\", "GET", "503", `canary="shop-new-80",host="shop.example",ingress="web",method="GET",namespace="shop",path="/\"\\",service="",status="503"`},
		{nil, "nowhere\xff", "", "GET", "000", `canary="shop-new-80",host="nowhere�",ingress="",method="GET",namespace="",path="",service="",status="000"`},
		{func(o *Options) { o.PerHost = false }, "shop.example", "", "PUT", "404", `canary="shop-new-80",ingress="",method="PUT",namespace="",path="",service="",status="404"`},
		{func(o *Options) { o.StatusClasses = true }, "shop.example", "", "HEAD", "404", `canary="shop-new-80",host="shop.example",ingress="",method="HEAD",namespace="",path="",service="",status="4xx"`},
		{func(o *Options) { o.Labels = map[string]string{"controller_pod": "p", "a": "first"} }, "h", "", "GET", "200", `a="first",canary="shop-new-80",controller_pod="p",host="h",ingress="",method="GET",namespace="",path="",service="",status="200"`},
	} {
		o := small
		if c.change != nil {
			c.change(&o)
		}
		s := New(o)
		s.Add(fmt.Appendf(nil, "0\n"+line, c.place, c.path, c.method, c.status))
		if got, want := only(textOfStore(t, s), "requests{"), "requests{"+c.want+"} 1\n"; got != want {
			t.Errorf("want %s got %s", want, got)
		}
	}
}

func TestSeriesAreLimited(t *testing.T) {
	o := small
	o.MostOfIngress, o.Most = 15, 20
	s := New(o)
	for _, ingress := range []string{"web", "api", "late"} { // 15, 10 and 10 fit
		for i := range 30 {
			s.Add(fmt.Appendf(nil, "0\n2\th shop/%s/web/80\t/%d\tGET\t200\t\t0.1\t1\t1\t\t\t", ingress, i))
		}
	}
	s.Add([]byte("0\n7\th shop/web/web/80\t/1\tGET\t200\t\t0.1\t1\t1\t\t\t")) // known
	cut, _ := s.Cut()
	if want := map[Ingress]uint64{{"shop", "web"}: 30, {"shop", "api"}: 40, {"shop", "late"}: 40}; !cmp.Equal(want, cut) || s.Series() != 35 {
		t.Errorf("want %v of 35 series, got %v of %d", want, cut, s.Series())
	}
	if got := only(textOfStore(t, s), "requests{"); strings.Count(got, "\n") != 35 || !strings.Contains(got, `ingress="web",method="GET",namespace="shop",path="/1",service="web",status="200"} 9`) {
		t.Error(got)
	}
}

// TestRequestsOfNoIngressKeepRoom: odd methods at some hosts do not keep out those of others.
func TestRequestsOfNoIngressKeepRoom(t *testing.T) {
	o := small
	o.MostOfIngress, o.Most = 500, 20000
	s := New(o)
	for i := range 40 {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "COPY", "MOVE", "LOCK", "UNLOCK", "MKCOL", "PROPFIND", "PROPPATCH", "XX"} {
			s.Add(fmt.Appendf(nil, "0\n1\th%d\t\t%s\t308\t\t0.1\t1\t1\t\t\t", i, method))
		}
	}
	s.Add([]byte("0\n7\tvictim\t\tGET\t308\t\t0.1\t1\t1\t\t\t"))
	if cut, _ := s.Cut(); len(cut) > 0 || !strings.Contains(only(textOfStore(t, s), "requests{"), `host="victim",ingress="",method="OTHER"`) {
		t.Errorf("cut %v of %d series", cut, s.Series())
	}
}

// TestStatusesOfOneHostKeepRoom: a default backend that answers one host with all statuses does not
// keep out the requests of other hosts.
func TestStatusesOfOneHostKeepRoom(t *testing.T) {
	o := small
	o.MostOfIngress, o.Most = 500, 20000
	s := New(o)
	for status := 100; status < 600; status++ {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT"} {
			s.Add(fmt.Appendf(nil, "0\n1\tnoisy\t\t%s\t%d\t\t0.1\t1\t1\t\t\t", method, status))
		}
	}
	for i := range 100 {
		s.Add(fmt.Appendf(nil, "0\n7\tvictim%d\t\tGET\t308\t\t0.1\t1\t1\t\t\t", i))
	}
	if cut, _ := s.Cut(); len(cut) > 0 || !strings.Contains(only(textOfStore(t, s), "requests{"), `host="victim99",ingress="",method="OTHER",namespace="",path="",service="",status="3xx"`) {
		t.Errorf("cut %v of %d series", cut, s.Series())
	}
}

func TestSeriesOfDeletedIngressesGo(t *testing.T) {
	exists, o := true, small
	o.Exists = func(_, name string) bool { return exists || name != "web" }
	s := New(o)
	add := func(ingress string) {
		s.Add(fmt.Appendf(nil, "0\n1\th shop/%s/web/80\t/\tGET\t200\t\t0.1\t1\t1\t\t\t\n1\th\t\tGET\t404\t\t0.1\t1\t1\t\t\t", ingress))
	}
	add("web")
	add("api")
	if got := only(textOfStore(t, s), "requests{"); strings.Count(got, "\n") != 3 {
		t.Fatal(got)
	}
	exists = false
	if got := only(textOfStore(t, s), "requests{"); strings.Count(got, "\n") != 2 || strings.Contains(got, `ingress="web"`) {
		t.Fatal(got)
	}
	add("web") // of a worker that drains
	if got := only(textOfStore(t, s), "requests{"); strings.Contains(got, `ingress="web"`) || s.Series() != 2 {
		t.Fatal(got)
	}
}

func TestExcludedMetricsAreMissing(t *testing.T) {
	o := small
	o.Excluded = []string{Prefix + "bytes_sent", Prefix + "requests"}
	s := New(o)
	s.Add([]byte("0\n1\th\t\tGET\t200\t\t0.1\t1\t1\t0.1\t0.1\t0.1"))
	text := textOfStore(t, s)
	for _, name := range Names() {
		excluded := strings.HasSuffix(name, "bytes_sent") || strings.HasSuffix(name, "requests")
		if strings.Contains(text, "# TYPE "+name+" ") == excluded {
			t.Errorf("%s: want it excluded: %t\n%s", name, excluded, text)
		}
	}
}

// random fills a store with random requests, and histograms of client_golang with the same times.
func random(t *testing.T, o Options, seed uint64) (*Store, prometheus.Histogram) {
	t.Helper()
	reference := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "reference", Buckets: o.Buckets.Time, NativeHistogramBucketFactor: o.Buckets.Factor, NativeHistogramMaxBucketNumber: uint32(o.Buckets.Most),
	})
	s, dice := New(o), rand.New(rand.NewPCG(seed, 1))
	for range 2000 {
		milliseconds := int(dice.ExpFloat64() * 200)
		if dice.IntN(20) == 0 {
			milliseconds = []int{0, 1, 125, 250, 500, 1000, 2000}[dice.IntN(7)]
		}
		n := 1 + dice.IntN(3)
		s.Add(fmt.Appendf(nil, "0\n%d\th\t\tGET\t200\t\t%d.%03d\t%d\t%d\t\t\t", n, milliseconds/1000, milliseconds%1000, dice.IntN(1000), dice.IntN(100000)))
		for range n {
			reference.Observe(float64(milliseconds) / 1000)
		}
	}
	return s, reference
}

func TestHistogramsAreThoseOfClientGolang(t *testing.T) {
	for _, native := range []Buckets{{}, {Factor: 1.1}, {Factor: 1.5, Most: 100}, {Factor: 1.01, Most: 20}, {Factor: 4, Most: 3}} {
		o := small
		o.Buckets.Factor, o.Buckets.Most = native.Factor, native.Most
		s, reference := random(t, o, 7)
		families, err := s.Gather()
		check(t, err)
		var got *dto.Histogram
		for _, f := range families {
			if f.GetName() == Prefix+"request_duration_seconds" {
				got = f.Metric[0].Histogram
			}
		}
		var want dto.Metric
		check(t, reference.Write(&want))
		want.Histogram.CreatedTimestamp = nil
		got.SampleSum, want.Histogram.SampleSum = nil, nil // in another order, they round differently
		if difference := cmp.Diff(want.Histogram, got, protocmp.Transform()); difference != "" {
			t.Errorf("%+v: (-client_golang +here)\n%s", native, difference)
		}
	}
}

func TestTheTextIsThatOfGather(t *testing.T) {
	s, _ := random(t, small, 3)
	s.Add([]byte("0\n1000000\th shop/web/web/80\t/\"x\\\tGET\t200\t\t0.1\t1\t1234567\t0.1\t0.1\t0.1"))
	families, err := s.Gather()
	check(t, err)
	var want bytes.Buffer
	for _, f := range families {
		_, err := expfmt.MetricFamilyToText(&want, f)
		check(t, err)
	}
	if difference := cmp.Diff(want.String(), textOfStore(t, s)); difference != "" {
		t.Error(difference)
	}
}

func FuzzAdd(f *testing.F) {
	f.Add([]byte("0\n1\th shop/web/web/80\t/\tGET\t200\t\t0.1\t1\t1\t0.1\t0.1\t0.1"))
	f.Add([]byte("1"))
	f.Add([]byte("0\n99999999999999999999\t\t\t\t\t\t\t\t\t\t\n-1\ta\tb\tc\td\tNaN\t+Inf\t-1\te\tf\tg"))
	f.Fuzz(func(t *testing.T, datagram []byte) {
		s := New(small)
		s.Add(datagram)
		parser := expfmt.NewTextParser(model.UTF8Validation)
		if _, err := parser.TextToMetricFamilies(strings.NewReader(textOfStore(t, s))); err != nil {
			t.Fatalf("%q: %v\n%s", datagram, err, textOfStore(t, s))
		}
	})
}
