package plugin

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"sluice/internal/debugapi"
)

// looksAt are two looks at a pod, with a time of seconds between them.
func looksAt(seconds float64, first, second []debugapi.IngressTraffic) (a, b debugapi.Traffic) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	bounds := []float64{0.1, 1, 10}
	return debugapi.Traffic{At: at, Bounds: bounds, Ingresses: first}, debugapi.Traffic{At: at.Add(time.Duration(seconds * float64(time.Second))), Bounds: bounds, Ingresses: second}
}

func topOf(t *testing.T) *traffic {
	t.Helper()
	web := debugapi.IngressTraffic{Namespace: "shop", Ingress: "web", Requests: 1000, ClientErrors: 10, ServerErrors: 10, Times: []uint64{1000, 0, 0, 0}}
	more := web
	more.Requests, more.ClientErrors, more.ServerErrors, more.Times = 1200, 30, 12, []uint64{1100, 98, 2, 0}
	idle := debugapi.IngressTraffic{Namespace: "shop", Ingress: "idle", Requests: 7, Times: []uint64{7, 0, 0, 0}}
	slow := debugapi.IngressTraffic{Namespace: "blog", Ingress: "slow", Requests: 4, Cut: 16, Times: []uint64{0, 0, 0, 4}}
	nobody := debugapi.IngressTraffic{Requests: 5, ClientErrors: 5}
	var sum traffic
	first, second := looksAt(2, []debugapi.IngressTraffic{idle, web}, []debugapi.IngressTraffic{nobody, slow, idle, more})
	if err := sum.add("a", first, second); err != nil {
		t.Fatal(err)
	}
	// The Ingress was deleted and made anew, so that its counters began again.
	web.Requests, web.ClientErrors, web.ServerErrors, web.Times = 100, 0, 0, []uint64{100, 0, 0, 0}
	first, second = looksAt(1, []debugapi.IngressTraffic{more}, []debugapi.IngressTraffic{web})
	if err := sum.add("b", first, second); err != nil {
		t.Fatal(err)
	}
	return &sum
}

// TestTop: the requests of two pods are added up.
func TestTop(t *testing.T) {
	t.Parallel()
	const want = `NAMESPACE   INGRESS   REQUESTS/S   4XX      5XX    P50    P99
shop        web       200.0        6.7%     0.7%   75ms   991ms
blog        slow      10.0         0.0%     0.0%   >10s   >10s
-           -         2.5          100.0%   0.0%   -      -
`
	sum, s := topOf(t), &session{streams: genericiooptions.NewTestIOStreamsDiscard()}
	var out bytes.Buffer
	if err := s.printTop(output{Writer: &out, format: asTable}, sum.top("requests"), ""); err != nil || out.String() != want {
		t.Errorf("%v, got\n%swant\n%s", err, out.String(), want)
	}
	for order, want := range map[string]string{"name": ",slow,web", "4xx": ",web,slow", "5xx": "web,,slow", "p50": "slow,web,", "p99": "slow,web,"} {
		var names []string
		for _, row := range sum.top(order).Ingresses {
			names = append(names, row.Ingress)
		}
		if got := strings.Join(names, ","); got != want {
			t.Errorf("by %s: %s, want %s", order, got, want)
		}
	}
	out.Reset()
	const document = `"pods": 2,
  "seconds": 1.5,
  "ingresses": [
    {
      "namespace": "shop",
      "ingress": "web",
      "requestsPerSecond": 200,`
	if err := s.printTop(output{Writer: &out, format: asJSON}, sum.top("requests"), ""); err != nil || !strings.Contains(out.String(), document) || !strings.Contains(out.String(), `"p50": null`) {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// TestTrafficThatDoesNotFit: pods whose buckets differ cannot be added up.
func TestTrafficThatDoesNotFit(t *testing.T) {
	t.Parallel()
	sum := topOf(t)
	first, second := looksAt(1, nil, nil)
	second.Bounds = []float64{1}
	if err := sum.add("c", first, second); err == nil || !strings.Contains(err.Error(), "pod c: its --time-buckets differ") {
		t.Error(err)
	}
	if err := sum.add("c", second, first); err == nil || !strings.Contains(err.Error(), "clock") {
		t.Error(err)
	}
}

func TestQuantile(t *testing.T) {
	t.Parallel()
	bounds := []float64{1, 2, 4}
	for _, test := range []struct {
		times []uint64
		share float64
		want  float64
		above bool
	}{
		{[]uint64{10, 0, 0, 0}, 0.5, 0.5, false}, {[]uint64{0, 0, 10, 0}, 0.5, 3, false}, {[]uint64{50, 40, 9, 1}, 0.99, 4, false},
		{[]uint64{0, 0, 0, 3}, 0.5, 4, true}, {[]uint64{98, 0, 0, 2}, 0.99, 4, true}, {[]uint64{0, 0, 0, 0}, 0.5, math.NaN(), false}, {nil, 0.5, math.NaN(), false},
	} {
		got, above := (&requests{times: test.times}).quantile(test.share, bounds)
		if math.IsNaN(test.want) != (got == nil) || got != nil && *got != test.want || above != test.above {
			t.Errorf("%v at %v: %v, %t", test.times, test.share, got, above)
		}
	}
}

// TestTopOfARestartedPod: counts that began anew between the looks are never negative.
func TestTopOfARestartedPod(t *testing.T) {
	was := debugapi.IngressTraffic{Namespace: "shop", Ingress: "web", Requests: 100, Cut: 1000, ClientErrors: 50, ServerErrors: 20, Times: []uint64{0, 100, 0, 0}}
	for name, is := range map[string]debugapi.IngressTraffic{
		"fewer errors": {Requests: 150, Cut: 1000, ClientErrors: 3, Times: []uint64{140, 110, 0, 0}},
		"fewer cut":    {Requests: 150, Cut: 0, ClientErrors: 50, ServerErrors: 20, Times: []uint64{140, 110, 0, 0}},
		"other times":  {Requests: 150, Cut: 1000, ClientErrors: 50, ServerErrors: 20, Times: []uint64{140, 10, 0, 0}},
	} {
		is.Namespace, is.Ingress = "shop", "web"
		var sum traffic
		first, second := looksAt(10, []debugapi.IngressTraffic{was}, []debugapi.IngressTraffic{is})
		if err := sum.add("a", first, second); err != nil {
			t.Fatal(err)
		}
		if row := sum.top("requests").Ingresses[0]; row.ClientErrors > 1 || row.ServerErrors > 1 || row.PerSecond > 1000 {
			t.Errorf("%s: %+v", name, row)
		}
	}
}
