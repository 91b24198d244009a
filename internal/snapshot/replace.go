package snapshot

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// WithIngresses gives a snapshot in which the named Ingresses are replaced, or
// removed where the value is nil, or added where there was none. All else is
// shared with s, which stays as it is. The cost is one pass over the Ingresses.
func (s *Snapshot) WithIngresses(replace map[Name]*networkingv1.Ingress) *Snapshot {
	if len(replace) == 0 {
		return s
	}
	changed := *s
	changed.replaced = maps.Clone(s.replaced)
	if changed.replaced == nil {
		changed.replaced = make(map[Name]*networkingv1.Ingress, len(replace))
	}
	maps.Copy(changed.replaced, replace)
	changed.ingresses = merge(s.ingresses, replace)
	return &changed
}

// Replaced gives what WithIngresses put in the place of others, nil for nothing. It
// must not be changed.
func (s *Snapshot) Replaced() map[Name]*networkingv1.Ingress { return s.replaced }

// Removed gives the Ingresses that WithIngresses left out, the oldest first.
func (s *Snapshot) Removed() []*networkingv1.Ingress {
	var removed []*networkingv1.Ingress
	for name, replacement := range s.replaced {
		if was := s.byName[name]; replacement == nil && was != nil {
			removed = append(removed, was)
		}
	}
	slices.SortFunc(removed, compareIngresses)
	return removed
}

// Older says whether an Ingress comes before another one, as Ingresses has them.
func Older(a, b *networkingv1.Ingress) bool { return compareIngresses(a, b) < 0 }

// merge leaves the named Ingresses out of a sorted list and sorts their
// replacements in.
func merge(sorted []*networkingv1.Ingress, replace map[Name]*networkingv1.Ingress) []*networkingv1.Ingress {
	added := make([]*networkingv1.Ingress, 0, len(replace))
	for _, ing := range replace {
		if ing != nil {
			added = append(added, ing)
		}
	}
	slices.SortFunc(added, compareIngresses)
	merged := make([]*networkingv1.Ingress, 0, len(sorted)+len(added))
	for _, ing := range sorted {
		if _, gone := replace[nameOf(ing)]; gone {
			continue
		}
		for len(added) > 0 && compareIngresses(added[0], ing) < 0 {
			merged, added = append(merged, added[0]), added[1:]
		}
		merged = append(merged, ing)
	}
	return append(merged, added...)
}

// OnlyIngresses gives a snapshot with these Ingresses and no others. All else is
// shared with s, which stays as it is.
func (s *Snapshot) OnlyIngresses(some []*networkingv1.Ingress) *Snapshot {
	changed := *s
	changed.ingresses = slices.SortedFunc(slices.Values(some), compareIngresses)
	changed.byName, changed.replaced = make(map[Name]*networkingv1.Ingress, len(some)), nil
	changed.mark, changed.recent = new(mark), nil
	for _, ing := range some {
		changed.byName[nameOf(ing)] = ing
	}
	return &changed
}

// WithConfigMap gives a snapshot in which cm takes the place of the ConfigMap
// of its name. All else is shared with s, which stays as it is.
func (s *Snapshot) WithConfigMap(cm *corev1.ConfigMap) *Snapshot {
	changed := *s
	changed.configMaps = maps.Clone(s.configMaps)
	changed.configMaps[nameOf(cm)] = cm
	return &changed
}
