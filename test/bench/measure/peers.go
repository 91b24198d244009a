package measure

import "fmt"

// Peers is what two others were measured at, on the same machine, set-up and
// work: ingress-nginx 1.15.1, and the best of Traefik 3.7.9 with its ingress-nginx
// provider, HAProxy Ingress 0.17 and F5's NIC 5.6. 0 is not measured. They are
// not measured again here; docs/benchmarks.md has the same figures.
type Peers struct {
	IngressNginx, Other float64
	// OtherName is which of them that is, where it was written down.
	OtherName string
}

// ScalePeers are those at scale, by what is measured and the size.
var ScalePeers = map[string]map[int]Peers{
	Start:     {100: {3.7, 0.5, haproxy}, 1_000: {7.3, 1.35, haproxy}, 5_000: {35, 8, haproxy}},
	Add:       {100: {1.5, 0.2, haproxy}, 1_000: {5.1, 2.2, haproxy}, 5_000: {33, 2.5, haproxy}},
	Endpoints: {100: {2.3, 0.3, "NIC, by a reload"}, 1_000: {3, 1.3, ""}, 5_000: {11.5, 4.1, ""}},
	Processor: {100: {10, 2, haproxy}, 1_000: {84, 13, haproxy}, 5_000: {636, 86, haproxy}},
	PeakOfAll: {100: {206, 86, haproxy}, 1_000: {1_023, 238, haproxy}, 5_000: {4_890, 629, haproxy}},
	ConfSize:  {100: {1.6, 0, ""}, 1_000: {16, 0, ""}, 5_000: {81, 0, ""}},
	Parse:     {100: {0.11, 0, ""}, 1_000: {1.2, 0, ""}, 5_000: {5.6, 0, ""}},
}

const haproxy = "HAProxy"

// best is the figure of the other, with its name.
func (p Peers) best() string {
	if p.OtherName == "" {
		return optional(p.Other)
	}
	return fmt.Sprintf("%s (%s)", number(p.Other), p.OtherName)
}
