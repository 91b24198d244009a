package plugin

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"sluice/internal/debugapi"
)

// traffic adds up the requests between two looks at several pods.
type traffic struct {
	pods    int
	seconds float64
	bounds  []float64
	of      map[ingressName]*requests
}

type ingressName struct{ namespace, name string }

func (n ingressName) compare(o ingressName) int {
	return cmp.Or(strings.Compare(n.namespace, o.namespace), strings.Compare(n.name, o.name))
}

// requests are those of one Ingress. known are those whose status is known.
type requests struct {
	perSecond              float64
	known, client, servers uint64
	times                  []uint64
}

// add adds what came between two looks at a pod.
func (t *traffic) add(pod string, first, second debugapi.Traffic) error {
	took := second.At.Sub(first.At).Seconds()
	switch {
	case took <= 0:
		return fmt.Errorf("pod %s: its clock was set back between the two looks: try again", pod)
	case t.pods > 0 && !slices.Equal(t.bounds, second.Bounds):
		return fmt.Errorf("pod %s: its --time-buckets differ from those of other pods: --pod shows one pod", pod)
	case t.pods == 0:
		t.of, t.bounds = map[ingressName]*requests{}, second.Bounds
	}
	t.pods++
	t.seconds += took
	before := map[ingressName]debugapi.IngressTraffic{}
	for _, i := range first.Ingresses {
		before[ingressName{i.Namespace, i.Ingress}] = i
	}
	for _, i := range second.Ingresses {
		name := ingressName{i.Namespace, i.Ingress}
		was := before[name]
		if fell(was, i) {
			was = debugapi.IngressTraffic{} // counted anew
		}
		if n := i.Requests + i.Cut - was.Requests - was.Cut; n > 0 {
			t.sum(name, len(i.Times)).add(was, i, took)
		}
	}
	return nil
}

// fell reports whether a count is smaller than before.
func fell(was, is debugapi.IngressTraffic) bool {
	if is.Requests < was.Requests || is.Cut < was.Cut || is.ClientErrors < was.ClientErrors || is.ServerErrors < was.ServerErrors || len(was.Times) != len(is.Times) {
		return true
	}
	for i := range is.Times {
		if is.Times[i] < was.Times[i] {
			return true
		}
	}
	return false
}

func (t *traffic) sum(of ingressName, buckets int) *requests {
	if t.of[of] == nil {
		t.of[of] = &requests{times: make([]uint64, buckets)}
	}
	return t.of[of]
}

func (r *requests) add(was, is debugapi.IngressTraffic, seconds float64) {
	known := is.Requests - was.Requests
	all := known + is.Cut - was.Cut
	r.known, r.perSecond = r.known+known, r.perSecond+float64(all)/seconds
	r.client += is.ClientErrors - was.ClientErrors
	r.servers += is.ServerErrors - was.ServerErrors
	for i := range is.Times[:min(len(is.Times), len(r.times))] {
		r.times[i] += is.Times[i]
		if i < len(was.Times) {
			r.times[i] -= was.Times[i]
		}
	}
}

// quantile returns the time within which a share of requests was answered, interpolated
// within its bucket as by Prometheus; nil without requests. above is set if it is longer than
// the last bound, which is returned then.
func (r *requests) quantile(share float64, bounds []float64) (seconds *float64, above bool) {
	total := uint64(0)
	for _, n := range r.times {
		total += n
	}
	if total == 0 || len(bounds) == 0 || len(r.times) != len(bounds)+1 {
		return nil, false
	}
	rank, reached, lower := share*float64(total), 0.0, 0.0
	for i, bound := range bounds {
		n := float64(r.times[i])
		if n > 0 && reached+n >= rank {
			value := lower + (bound-lower)*(rank-reached)/n
			return &value, false
		}
		reached, lower = reached+n, bound
	}
	return &lower, true
}

// top returns the rows in an order of topOrders: the greatest first, and names from the first.
func (t *traffic) top(order string) top {
	result := top{Pods: t.pods, Seconds: t.seconds / float64(max(t.pods, 1)), Ingresses: []topRow{}}
	for name, r := range t.of {
		row := topRow{Namespace: name.namespace, Ingress: name.name, PerSecond: r.perSecond}
		if r.known > 0 {
			row.ClientErrors, row.ServerErrors = float64(r.client)/float64(r.known), float64(r.servers)/float64(r.known)
		}
		row.P50, row.above50 = r.quantile(0.5, t.bounds)
		row.P99, row.above99 = r.quantile(0.99, t.bounds)
		result.Ingresses = append(result.Ingresses, row)
	}
	slices.SortFunc(result.Ingresses, func(a, b topRow) int {
		return cmp.Or(cmp.Compare(b.by(order), a.by(order)), ingressName{a.Namespace, a.Ingress}.compare(ingressName{b.Namespace, b.Ingress}))
	})
	return result
}

// by returns the value that decides the order.
func (r topRow) by(order string) float64 {
	known := func(seconds *float64) float64 {
		if seconds == nil {
			return -1
		}
		return *seconds
	}
	switch order {
	case "4xx":
		return r.ClientErrors
	case "5xx":
		return r.ServerErrors
	case "p50":
		return known(r.P50)
	case "p99":
		return known(r.P99)
	case "name":
		return 0
	}
	return r.PerSecond
}
