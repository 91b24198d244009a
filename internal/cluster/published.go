package cluster

import (
	"reflect"
	"sync"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/snapshot"
)

// published holds the statuses of Ingresses in the API server. They are stored
// separately, so that a new status does not change the Ingress. Consecutive equal
// statuses share one value.
type published struct {
	mu       sync.Mutex
	statuses map[snapshot.Name]*networkingv1.IngressLoadBalancerStatus
	last     *networkingv1.IngressLoadBalancerStatus
	changed  chan struct{}
}

// take moves the status out of an Ingress.
func (p *published) take(o *networkingv1.Ingress) {
	status := o.Status.LoadBalancer
	o.Status = networkingv1.IngressStatus{}
	p.mu.Lock()
	defer p.mu.Unlock()
	name := snapshot.NameOf(o)
	was := p.statuses[name]
	if len(status.Ingress) == 0 {
		delete(p.statuses, name)
		p.tell(was != nil)
		return
	}
	if p.last == nil || !reflect.DeepEqual(*p.last, status) {
		p.last = &status
	}
	if p.statuses == nil {
		p.statuses = map[snapshot.Name]*networkingv1.IngressLoadBalancerStatus{}
	}
	p.statuses[name] = p.last
	p.tell(was == nil || was != p.last && !reflect.DeepEqual(*was, status))
}

func (p *published) tell(changed bool) {
	if changed {
		offer(p.changed)
	}
}

// gone removes the status of a deleted Ingress.
func (p *published) gone(name snapshot.Name) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.statuses, name)
}

// Published returns the status of an Ingress in the API server, empty if there is
// none. Callers must not modify it.
func (s *Source) Published(name snapshot.Name) networkingv1.IngressLoadBalancerStatus {
	s.published.mu.Lock()
	defer s.published.mu.Unlock()
	if status := s.published.statuses[name]; status != nil {
		return *status
	}
	return networkingv1.IngressLoadBalancerStatus{}
}

// Republished returns a channel that receives when statuses changed, whoever wrote
// them.
func (s *Source) Republished() <-chan struct{} { return s.published.changed }
