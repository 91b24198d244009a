package status

import (
	"context"

	"k8s.io/client-go/util/workqueue"
)

// Shutdown removes the addresses from the status if they would lead nowhere: this
// replica leads, no other one is ready, and there is only one address or all belong
// to nodes of this deployment. In all other cases the status stays, as with
// ingress-nginx, so that neither a rollout nor the next leader finds it empty.
//
// Call it while Run still runs and the elector still leads; after that nothing else
// is written. ctx limits its duration. Do not call it with
// --update-status-on-shutdown=false.
func (s *Statuses) Shutdown(ctx context.Context) {
	s.mu.Lock()
	s.stopping = true
	s.mu.Unlock()
	s.inFlight.Wait()
	if reason := s.leaves(ctx); reason != "" {
		s.Log.Info("the status of the Ingresses is not removed", "reason", reason)
		return
	}
	ours := s.ours()
	workqueue.ParallelizeUntil(ctx, parallel, len(ours), func(i int) { s.remove(ctx, ours[i]) })
}

// leaves returns the reason to keep the status, or "".
func (s *Statuses) leaves(ctx context.Context) string {
	s.mu.Lock()
	leader, addresses := s.leader, len(s.addresses)
	s.mu.Unlock()
	switch {
	case leader == nil || !leader.IsLeader():
		return "this replica does not lead"
	case addresses == 0:
		return "nothing was written"
	case addresses > 1 && !s.Source.own:
		return "there are several addresses"
	case s.Replicas == nil:
		return "it is not known whether there are other replicas"
	}
	others, err := s.Replicas.others(ctx)
	switch {
	case err != nil:
		return err.Error()
	case others > 0:
		return "other replicas are ready"
	}
	return ""
}

// ours returns the entries whose status we wrote.
func (s *Statuses) ours() []*entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.takeOver()
	var all []*entry
	for _, e := range s.entries {
		there, known := s.there(e)
		if known && (same(there.points, s.wanted(e)) || e.written != nil && same(there.points, e.written.points)) {
			all = append(all, e)
		}
	}
	return all
}

func (s *Statuses) remove(ctx context.Context, e *entry) {
	if _, err := s.put(ctx, e.served, nil); err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.complain("status not removed", e.served.Name.String(), err)
	}
}
