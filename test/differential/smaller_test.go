package differential

import (
	"maps"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
)

// smaller gives worlds that each have one thing less, the larger things first.
func (w *world) smaller() []*world {
	var list []*world
	with := func(change func(*world)) {
		other := *w
		change(&other)
		list = append(list, &other)
	}
	if len(w.catchAll.ingresses) > 0 {
		with(func(o *world) { o.catchAll = &set{} })
	}
	for _, ingresses := range smallerLists(w.catchAll.ingresses) {
		with(func(o *world) { o.catchAll = &set{ingresses: ingresses} })
	}
	if len(w.sets) > 0 {
		for _, ingresses := range smallerLists(w.sets[0].ingresses) {
			with(func(o *world) { o.sets = []*set{{suffix: w.sets[0].suffix, ingresses: ingresses}} })
		}
	}
	if w.defaultBackend {
		with(func(o *world) { o.defaultBackend = false })
	}
	if w.slashRedirect {
		with(func(o *world) { o.slashRedirect = false })
	}
	if w.regexScope != "host" {
		with(func(o *world) { o.regexScope = "host" })
	}
	return list
}

// smallerLists gives Ingresses without one of them, or with less in one of them.
func smallerLists(ingresses []*networkingv1.Ingress) [][]*networkingv1.Ingress {
	var lists [][]*networkingv1.Ingress
	for i := range ingresses {
		lists = append(lists, slices.Delete(slices.Clone(ingresses), i, i+1))
	}
	for i, ing := range ingresses {
		for _, less := range smallerIngresses(ing) {
			list := slices.Clone(ingresses)
			list[i] = less
			lists = append(lists, list)
		}
	}
	return lists
}

// smallerIngresses gives an Ingress without one of its rules, paths, annotations,
// and other parts.
func smallerIngresses(ing *networkingv1.Ingress) []*networkingv1.Ingress {
	var list []*networkingv1.Ingress
	with := func(change func(*networkingv1.Ingress)) {
		other := ing.DeepCopy()
		change(other)
		list = append(list, other)
	}
	for i, rule := range ing.Spec.Rules {
		if len(ing.Spec.Rules) > 1 {
			with(func(o *networkingv1.Ingress) { o.Spec.Rules = slices.Delete(o.Spec.Rules, i, i+1) })
		}
		for p := 0; rule.HTTP != nil && len(rule.HTTP.Paths) > 1 && p < len(rule.HTTP.Paths); p++ {
			with(func(o *networkingv1.Ingress) {
				o.Spec.Rules[i].HTTP.Paths = slices.Delete(o.Spec.Rules[i].HTTP.Paths, p, p+1)
			})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(ing.Annotations)) {
		with(func(o *networkingv1.Ingress) { delete(o.Annotations, key) })
	}
	if ing.Spec.DefaultBackend != nil && len(ing.Spec.Rules) > 0 {
		with(func(o *networkingv1.Ingress) { o.Spec.DefaultBackend = nil })
	}
	if ing.Spec.TLS != nil {
		with(func(o *networkingv1.Ingress) { o.Spec.TLS = nil })
	}
	return list
}
