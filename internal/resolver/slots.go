package resolver

import (
	"context"
	"sync"
	"time"
)

// The maximum number of concurrent questions: in total, and for one namespace. Names whose
// last question failed get at most half of each, so that they do not delay new names.
const (
	lookups            = 128
	lookupsOfNamespace = 16
)

// slots counts the running questions.
type slots struct {
	all share
	of  map[string]*share // by namespace
}

// share counts all questions, and those for names whose last question failed.
type share struct{ all, failing int }

// room reports whether one more question is within a limit.
func (s share) room(limit int, failing bool) bool {
	return s.all < limit && (!failing || s.failing < limit/2)
}

func (s *share) add(by int, failing bool) {
	s.all += by
	if failing {
		s.failing += by
	}
}

// best returns the namespace with the fewest questions among those that use a name; false
// if none may have another one.
func (s *slots) best(namespaces []string, failing bool) (namespace string, running int, ok bool) {
	if !s.all.room(lookups, failing) {
		return "", 0, false
	}
	for _, candidate := range namespaces {
		var now share
		if counted := s.of[candidate]; counted != nil {
			now = *counted
		}
		if now.room(lookupsOfNamespace, failing) && (!ok || now.all < running) {
			namespace, running, ok = candidate, now.all, true
		}
	}
	return namespace, running, ok
}

// take counts a question of a namespace. The caller must call free at its end.
func (s *slots) take(namespace string, failing bool) (free func()) {
	if s.of == nil {
		s.of = map[string]*share{}
	}
	counted := s.of[namespace]
	if counted == nil {
		counted = new(share)
		s.of[namespace] = counted
	}
	counted.add(1, failing)
	s.all.add(1, failing)
	return func() {
		s.all.add(-1, failing)
		if counted.add(-1, failing); counted.all == 0 {
			delete(s.of, namespace)
		}
	}
}

// askDue starts the questions that are due and have a slot. It returns the time until the
// next one is due. The end of a question wakes Run for those without a slot.
func (r *Resolver) askDue(ctx context.Context, questions *sync.WaitGroup) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		text, namespace, next := r.nextName(time.Now())
		if text == "" {
			return next
		}
		n := r.names[text]
		n.asking = true
		ipv4 := r.ipv4
		free, last, limit := r.slots.take(namespace, n.failures > 0), n.last, n.limit()
		questions.Go(func() {
			r.ask(ctx, text, last, ipv4, limit)
			r.mu.Lock()
			free()
			if asked := r.names[text]; asked != nil && r.ipv4 != ipv4 {
				asked.due = time.Now()
			}
			r.mu.Unlock()
			signal(r.wake)
		})
	}
}

// nextName chooses the name to ask for, and the namespace whose slot it takes. Names whose
// last question did not fail come first; then those of the namespace with the fewest
// questions; then the earliest due. text is empty if there is none; next is the time until
// one is due.
func (r *Resolver) nextName(now time.Time) (text, namespace string, next time.Duration) {
	next = maxTTL
	var first *name
	fewest := 0
	for candidate, n := range r.names {
		if n.asking {
			continue
		}
		if wait := n.due.Sub(now); wait > 0 {
			next = min(next, wait)
			continue
		}
		of, running, ok := r.slots.best(n.namespaces, n.failures > 0)
		if ok && (first == nil || n.before(first, running-fewest)) {
			text, namespace, first, fewest = candidate, of, n, running
		}
	}
	return text, namespace, next
}

// before reports whether a name comes before another one. more is the number of questions
// of its namespace minus that of the other one.
func (n *name) before(other *name, more int) bool {
	failing, otherFailing := n.failures > 0, other.failures > 0
	switch {
	case failing != otherFailing:
		return otherFailing
	case more != 0:
		return more < 0
	}
	return n.due.Before(other.due)
}

// limit returns the maximum time for a question.
func (n *name) limit() time.Duration {
	if n.failures == 0 {
		return firstLimit
	}
	return retryLimit
}
