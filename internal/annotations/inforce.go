package annotations

import (
	"reflect"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/keys"
	"sluice/internal/settings"
)

// InForce is a behaviour with the values of its keys for one Ingress.
type InForce struct {
	Behaviour
	// Values are the keys with the texts in force and the whole names of their
	// annotations. A behaviour that was left out has its defaults.
	Values []keys.InForce
	// Inherited are the layers of the values that the Ingress does not have itself, by key.
	Inherited map[string]*settings.Layer
}

// Explain returns all behaviours, in the order of All, with the values in force for a path
// of an Ingress; "" for no particular path. Its other arguments are those of Read.
func Explain(ing *networkingv1.Ingress, s *settings.Settings, prefix, path string) []InForce {
	r := newReader(sourceOf(ing), s, prefix)
	r.inherit()
	r.readLines()
	if slices.Contains(r.byPath.paths(), path) {
		r = r.at(path)
	}
	list := make([]InForce, len(behaviours))
	for i, b := range behaviours {
		r.read(b)
		group := reflect.New(b.group)
		lookup := r.annotated(group)
		defaults := r.defaults(group)
		if slices.Contains(r.unsound, b.Name) {
			lookup = nothing
		}
		if b.authenticates() && r.isExempt(path) {
			lookup, defaults = nothing, nothing
		}
		list[i] = InForce{Behaviour: b.Behaviour, Values: keys.Values(group.Interface(), lookup, defaults, r.instead...), Inherited: map[string]*settings.Layer{}}
		for at, v := range list[i].Values {
			if v.Name == "" {
				continue
			}
			list[i].Values[at].Name = r.field(v.Name)
			if from, ok := r.inheritedAt(v.Name); ok {
				list[i].Values[at].Name, list[i].Inherited[v.Key] = from.layer.Field, from.layer
			}
		}
	}
	return list
}
