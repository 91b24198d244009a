package bench

import "fmt"

// peers is what two others were measured at, on the same machine, set-up and
// work: ingress-nginx 1.15.1, and the best of Traefik 3.7.9 with its ingress-nginx
// provider, HAProxy Ingress 0.17 and F5's NIC 5.6. 0 is not measured. They are
// not measured again here; docs/benchmarks.md has the same figures.
type peers struct {
	ingressNginx, other float64
	// otherName is which of them that is, where it was written down.
	otherName string
}

// scalePeers are those of BenchmarkScale, by what is measured and the size.
var scalePeers = map[string]map[int]peers{
	"start to every host served": {100: {3.7, 0.5, haproxy}, 1_000: {7.3, 1.35, haproxy}, 5_000: {35, 8, haproxy}},
	"one more Ingress served":    {100: {1.5, 0.2, haproxy}, 1_000: {5.1, 2.2, haproxy}, 5_000: {33, 2.5, haproxy}},
	"endpoints effective":        {100: {2.3, 0.3, "NIC, by a reload"}, 1_000: {3, 1.3, ""}, 5_000: {11.5, 4.1, ""}},
	"CPU of all":                 {100: {10, 2, haproxy}, 1_000: {84, 13, haproxy}, 5_000: {636, 86, haproxy}},
	"peak memory of all":         {100: {206, 86, haproxy}, 1_000: {1_023, 238, haproxy}, 5_000: {4_890, 629, haproxy}},
	"nginx.conf":                 {100: {1.6, 0, ""}, 1_000: {16, 0, ""}, 5_000: {81, 0, ""}},
	"nginx -t":                   {100: {0.11, 0, ""}, 1_000: {1.2, 0, ""}, 5_000: {5.6, 0, ""}},
}

const haproxy = "HAProxy"

// trafficPeers are those of BenchmarkThroughput, beside nginx by hand with a
// static upstream and the same keep-alive.
var trafficPeers = map[string]peers{
	"throughput beside " + bareName:      {0.41, 0.95, "NIC, tuned"},
	"CPU per request beside " + bareName: {3.1, 1.2, "NIC, tuned"},
}

// best is the figure of the other, with its name.
func (p peers) best() string {
	if p.otherName == "" {
		return optional(p.other)
	}
	return fmt.Sprintf("%s (%s)", number(p.other), p.otherName)
}
