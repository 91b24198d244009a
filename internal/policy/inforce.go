package policy

import (
	"slices"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/keys"
	"sluice/internal/settings"
)

// InForce is a behaviour with what its keys say for one Ingress.
type InForce struct {
	Behaviour
	// Values are its keys with the texts that hold. Those of a behaviour that was
	// left out whole are the defaults.
	Values []keys.InForce
}

// Explain lists all behaviours, in the order of All, with what holds for an
// Ingress, which Read takes in the same way.
func Explain(ing *networkingv1.Ingress, s *settings.Settings, prefix string) []InForce {
	r := newReader(ing, s, prefix)
	list := make([]InForce, len(all))
	for i, b := range all {
		b.read(r, b.Behaviour)
		lookup := r.inForce
		if slices.Contains(r.unsound, b.Name) {
			lookup = func(string) (string, bool) { return "", false }
		}
		list[i] = InForce{b.Behaviour, b.values(lookup, s.Value)}
	}
	return list
}

// inForce is lookup, without what is not followed.
func (r *reader) inForce(key string) (string, bool) {
	switch fault, bad := r.instead[key]; {
	case bad && fault.Rest != "":
		return fault.Rest, true
	case bad && !fault.Partly:
		return "", false
	}
	return r.lookup(key)
}
