package annotations

import (
	"reflect"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/keys"
	"sluice/internal/settings"
)

// InForce is a behaviour with what its keys say for one Ingress.
type InForce struct {
	Behaviour
	// Values are its keys with the texts that hold, each with the whole name of the
	// annotation that says it. Those of a behaviour that was left out whole are the
	// defaults.
	Values []keys.InForce
}

// Explain lists all behaviours, in the order of All, with what holds for a path of an
// Ingress, which Read takes in the same way; "" stands for no path of its rules.
func Explain(ing *networkingv1.Ingress, s *settings.Settings, prefix, path string) []InForce {
	r := newReader(sourceOf(ing), s, prefix)
	r.readLines()
	if slices.Contains(r.byPath.paths(), path) {
		r = r.at(path)
	}
	list := make([]InForce, len(behaviours))
	for i, b := range behaviours {
		r.read(b)
		lookup := r.lookup
		if slices.Contains(r.unsound, b.Name) {
			lookup = func(string) (string, bool) { return "", false }
		}
		list[i] = InForce{b.Behaviour, keys.Values(reflect.New(b.group).Interface(), lookup, s.Value, r.instead...)}
		for at, v := range list[i].Values {
			if v.Name != "" {
				list[i].Values[at].Name = r.field(v.Name)
			}
		}
	}
	return list
}
