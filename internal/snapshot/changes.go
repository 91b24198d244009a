package snapshot

import (
	"maps"
	"slices"
)

// Changes names the objects that were added, deleted or replaced.
type Changes struct {
	Ingresses []Name
	// Services are those that changed, or whose EndpointSlices changed.
	Services []Name
	Secrets  []Name
}

// Since returns the changes since an earlier snapshot, in no order. It compares pointers.
// The result can include objects that changed and changed back.
func (s *Snapshot) Since(before *Snapshot) Changes {
	if before.mark == s.mark {
		return Changes{}
	}
	if first := slices.IndexFunc(s.recent, func(step step) bool { return step.from == before.mark }); first >= 0 {
		return together(s.recent[first:])
	}
	services := differing(before.services, s.services, identical)
	return Changes{
		Ingresses: differing(before.byName, s.byName, identical),
		Services:  append(services, differing(before.slices, s.slices, slices.Equal)...),
		Secrets:   differing(before.secrets, s.secrets, identical),
	}
}

func together(steps []step) Changes {
	return Changes{
		Ingresses: concat(steps, func(c *Changes) []Name { return c.Ingresses }),
		Services:  concat(steps, func(c *Changes) []Name { return c.Services }),
		Secrets:   concat(steps, func(c *Changes) []Name { return c.Secrets }),
	}
}

func concat(steps []step, names func(*Changes) []Name) []Name {
	length := 0
	for i := range steps {
		length += len(names(&steps[i].changes))
	}
	all := make([]Name, 0, length)
	for i := range steps {
		all = append(all, names(&steps[i].changes)...)
	}
	return all
}

// OnlyServices returns the Services that changed since an earlier snapshot, or whose
// EndpointSlices changed, in no order. only is false if anything else differs, including
// an Ingress that WithIngresses removed.
func (s *Snapshot) OnlyServices(before *Snapshot) (services []Name, only bool) {
	if !slices.Equal(s.ingresses, before.ingresses) || !slices.Equal(s.classes, before.classes) || !slices.Equal(s.forbidden, before.forbidden) || !maps.Equal(s.replaced, before.replaced) ||
		!sameIndex(s.configMaps, before.configMaps, identical) || !sameIndex(s.secrets, before.secrets, identical) || !sameIndex(s.namespaces, before.namespaces, identical) {
		return nil, false
	}
	changes := s.Since(before)
	return changes.Services, len(changes.Ingresses) == 0
}

func identical[T any](a, b *T) bool { return a == b }

// differing returns the names whose values differ. An unchanged index is the same pointer.
func differing[T any](before, now *index[T], same func(a, b T) bool) []Name {
	if before == now {
		return nil
	}
	var names []Name
	for name, is := range now.all() {
		if was, ok := before.find(name); !ok || !same(was, is) {
			names = append(names, name)
		}
	}
	for name := range before.all() {
		if _, ok := now.find(name); !ok {
			names = append(names, name)
		}
	}
	return names
}
