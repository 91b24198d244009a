package status

import (
	"slices"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/utils/ptr"
)

// point is one entry of status.loadBalancer.ingress.
type point = networkingv1.IngressLoadBalancerIngress

// entry holds the state of one served Ingress.
type entry struct {
	served    Served
	written   *written // written by this replica and not changed since; nil if nothing
	contest   contest
	busy      bool // a worker handles this entry
	failures  int
	notBefore time.Time
}

// written is a status that was written, and the resulting resourceVersion.
type written struct {
	points  []point
	version string
}

// step is the next action for an entry.
type step int

const (
	nothing step = iota
	write        // write the status
	ask          // find out who the rival is
)

// look compares the current status with the wanted one. Callers hold mu.
func (s *Statuses) look(e *entry, now time.Time) step {
	if e.busy || s.stopping || !s.leader.IsLeader() || now.Before(e.notBefore) || len(s.addresses) == 0 {
		return nothing
	}
	there, known := s.there(e)
	if !known {
		return nothing
	}
	if e.written != nil && !same(there.points, e.written.points) {
		e.written = nil
		e.contest.changedBack(now)
	}
	switch {
	case same(there.points, s.wanted(e)):
		e.contest.agree(now)
		return nothing
	case e.contest.rests(now) && !e.contest.asked:
		return ask
	case e.contest.rests(now):
		return nothing
	}
	return write
}

// there returns the status in the API server: as the informer knows it, or as written
// if the informer has not caught up. It returns false for an Ingress that is gone or
// was created anew.
func (s *Statuses) there(e *entry) (written, bool) {
	ing := s.Ingress(e.served.Name)
	if ing == nil || ing.UID != e.served.UID {
		return written{}, false
	}
	if e.written != nil && !newer(ing.ResourceVersion, e.written.version) {
		return *e.written, true
	}
	return written{points: ing.Status.LoadBalancer.Ingress, version: ing.ResourceVersion}, true
}

// newer reports whether version a is later than b. Versions that cannot be compared
// count as later if they differ.
func newer(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	if err != nil {
		return a != b
	}
	return order > 0
}

// wanted returns the status that an entry should have. Callers hold mu.
func (s *Statuses) wanted(e *entry) []point {
	all := make([]point, 0, len(s.addresses))
	for _, a := range s.addresses {
		all = append(all, point{IP: a.IP, Hostname: a.Hostname, Ports: e.served.Ports})
	}
	return all
}

// same reports whether two statuses are equal in any order.
func same(a, b []point) bool {
	if len(a) != len(b) {
		return false
	}
	if slices.EqualFunc(a, b, samePoint) {
		return true
	}
	rest := slices.Clone(b)
	for _, p := range a {
		i := slices.IndexFunc(rest, func(q point) bool { return samePoint(p, q) })
		if i < 0 {
			return false
		}
		rest = slices.Delete(rest, i, i+1)
	}
	return true
}

func samePoint(a, b point) bool {
	return a.IP == b.IP && a.Hostname == b.Hostname && slices.EqualFunc(a.Ports, b.Ports, samePort)
}

func samePort(a, b networkingv1.IngressPortStatus) bool {
	return a.Port == b.Port && a.Protocol == b.Protocol && ptr.Deref(a.Error, "") == ptr.Deref(b.Error, "")
}
