package cluster

import (
	"reflect"
	"sync"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/snapshot"
)

// published are the statuses of the Ingresses as the API server has them. They
// are kept apart, so that a new status is no change of an Ingress. Equal ones
// that come one after the other are one value.
type published struct {
	mu       sync.Mutex
	statuses map[snapshot.Name]*networkingv1.IngressLoadBalancerStatus
	last     *networkingv1.IngressLoadBalancerStatus
	changed  chan struct{}
}

// take takes the status out of an Ingress.
func (p *published) take(o *networkingv1.Ingress) {
	status := o.Status.LoadBalancer
	o.Status = networkingv1.IngressStatus{}
	p.mu.Lock()
	defer p.mu.Unlock()
	name := nameOf(o)
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

// gone forgets an Ingress.
func (p *published) gone(name snapshot.Name) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.statuses, name)
}

// Published gives the status of an Ingress as the API server has it; empty if
// there is none. It must not be changed.
func (s *Source) Published(name snapshot.Name) networkingv1.IngressLoadBalancerStatus {
	s.published.mu.Lock()
	defer s.published.mu.Unlock()
	if status := s.published.statuses[name]; status != nil {
		return *status
	}
	return networkingv1.IngressLoadBalancerStatus{}
}

// Republished gives a token whenever statuses changed, whoever wrote them.
func (s *Source) Republished() <-chan struct{} { return s.published.changed }
