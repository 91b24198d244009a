package snapshot

import (
	discoveryv1 "k8s.io/api/discovery/v1"
)

// Objects returns all objects of the snapshot. Endpoints are among the EndpointSlices.
func (s *Snapshot) Objects() Objects {
	return Objects{
		Ingresses: s.ingresses, IngressClasses: s.classes, Services: listed(s.services), EndpointSlices: s.allSlices(),
		Secrets: listed(s.secrets), ConfigMaps: listed(s.configMaps), Namespaces: listed(s.namespaces), Forbidden: s.forbidden,
	}
}

func listed[P any](x *index[P]) []P {
	all := make([]P, 0, x.len())
	for _, o := range x.all() {
		all = append(all, o)
	}
	return all
}

func (s *Snapshot) allSlices() []*discoveryv1.EndpointSlice {
	var all []*discoveryv1.EndpointSlice
	for _, group := range s.slices.all() {
		all = append(all, group...)
	}
	return all
}

// With returns the objects of o, and those of other, which replace those of the same kind and
// name. Endpoints of other become EndpointSlices.
func (o Objects) With(other Objects) Objects {
	for _, m := range other.Mirrored {
		other.EndpointSlices = append(other.EndpointSlices, m.Slices...)
	}
	return Objects{
		Ingresses: replaced(o.Ingresses, other.Ingresses), IngressClasses: replaced(o.IngressClasses, other.IngressClasses),
		Services: replaced(o.Services, other.Services), EndpointSlices: replaced(o.EndpointSlices, other.EndpointSlices),
		Secrets: replaced(o.Secrets, other.Secrets), ConfigMaps: replaced(o.ConfigMaps, other.ConfigMaps), Namespaces: replaced(o.Namespaces, other.Namespaces),
		Endpoints: o.Endpoints, Mirrored: o.Mirrored, Forbidden: o.Forbidden,
	}
}

// replaced returns all objects, of which some are replaced or new.
func replaced[T any, P Object[T]](all, some []P) []P {
	if len(some) == 0 {
		return all
	}
	by := make(map[Name]bool, len(some))
	for _, o := range some {
		by[NameOf(o)] = true
	}
	kept := make([]P, 0, len(all)+len(some))
	for _, o := range all {
		if !by[NameOf(o)] {
			kept = append(kept, o)
		}
	}
	return append(kept, some...)
}
