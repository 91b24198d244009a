package cluster

import (
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"

	"sluice/internal/snapshot"
)

// settling is the time for which a new number of replicas has to stand before it counts.
// It can change nginx.conf, and a rolling update changes it many times.
const settling = 30 * time.Second

// replicas holds the number of ready replicas.
type replicas struct {
	// counted counts, pending is a newer number, since a moment.
	counted, pending int
	since            time.Time
	// again makes Load look again; nil if no number is pending.
	again *time.Timer
}

// take takes the current number, and returns the one that counts. wait is the time after
// which to look again, 0 for no need. Once a number is known, the last one above 0 stays.
func (r *replicas) take(ready int, now time.Time) (counted int, wait time.Duration) {
	switch {
	case r.counted == 0:
		r.counted, r.pending = ready, ready
	case ready == 0 || ready == r.counted:
		r.pending = r.counted
	case ready != r.pending:
		r.pending, r.since = ready, now
	}
	if r.pending == r.counted {
		return r.counted, 0
	}
	if left := settling - now.Sub(r.since); left > 0 {
		return r.counted, left
	}
	r.counted = r.pending
	return r.counted, 0
}

// countReplicas returns the number of replicas that counts, and looks again when another
// one may.
func (s *Source) countReplicas(slices []*discoveryv1.EndpointSlice) int {
	if s.o.Replicas == (snapshot.Name{}) {
		return 0
	}
	counted, wait := s.replicas.take(readyOf(slices, s.o.Replicas), time.Now())
	if s.replicas.again != nil {
		s.replicas.again.Stop()
		s.replicas.again = nil
	}
	if wait > 0 {
		s.replicas.again = time.AfterFunc(wait, s.signal.touch)
	}
	return counted
}

// readyOf returns the number of ready endpoints of a Service. Those of a Service with two
// families of addresses are in the slices of both.
func readyOf(slices []*discoveryv1.EndpointSlice, service snapshot.Name) int {
	ready := map[discoveryv1.AddressType]map[string]bool{}
	for _, slice := range slices {
		if slice.Namespace != service.Namespace || slice.Labels[discoveryv1.LabelServiceName] != service.Name {
			continue
		}
		for _, e := range slice.Endpoints {
			if len(e.Addresses) == 0 || e.Conditions.Ready != nil && !*e.Conditions.Ready {
				continue
			}
			if ready[slice.AddressType] == nil {
				ready[slice.AddressType] = map[string]bool{}
			}
			ready[slice.AddressType][e.Addresses[0]] = true
		}
	}
	most := 0
	for _, addresses := range ready {
		most = max(most, len(addresses))
	}
	return most
}
