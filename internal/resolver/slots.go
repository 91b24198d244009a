package resolver

// The most names that are asked for at once: in all, and for one namespace. Names whose
// last question failed take no more than half of either, so that names that DNS never
// answers do not delay new ones.
const (
	lookups            = 128
	lookupsOfNamespace = 16
)

// slots counts the names that are asked for.
type slots struct {
	all share
	of  map[string]*share // by namespace
}

// share counts questions, and those of them for names whose last one failed.
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

// best gives the namespace with the fewest questions of those that need a name; false
// if none has room for one more.
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

// take counts a question of a namespace. The caller calls free at its end.
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
