package snapshot

import (
	"reflect"
	"slices"
)

// Changes are the names of what came, went or is another in a snapshot.
type Changes struct {
	Ingresses []Name
	// Services are those that changed themselves or in their EndpointSlices.
	Services []Name
	Secrets  []Name
}

// Since gives what changed since an earlier snapshot, in no order. It looks at
// pointers only.
func (s *Snapshot) Since(before *Snapshot) Changes {
	services := differing(before.services, s.services, identical)
	return Changes{
		Ingresses: differing(before.byName, s.byName, identical),
		Services:  append(services, differing(before.slices, s.slices, slices.Equal)...),
		Secrets:   differing(before.secrets, s.secrets, identical),
	}
}

func identical[T any](a, b *T) bool { return a == b }

func differing[T any](before, now map[Name]T, same func(a, b T) bool) []Name {
	if reflect.ValueOf(before).Pointer() == reflect.ValueOf(now).Pointer() {
		return nil // a Builder goes on using what did not change
	}
	var names []Name
	for name, is := range now {
		if was, ok := before[name]; !ok || !same(was, is) {
			names = append(names, name)
		}
	}
	for name := range before {
		if _, ok := now[name]; !ok {
			names = append(names, name)
		}
	}
	return names
}
