package snapshot

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// WithIngresses gives a snapshot in which the named Ingresses are replaced, or
// removed where the value is nil, or added where there was none. All else is
// shared with s, which stays as it is.
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
	var c change[*networkingv1.Ingress]
	for name, by := range replace {
		if was := s.Ingress(name); was != nil {
			c.gone = append(c.gone, was)
		}
		if by != nil {
			c.came = append(c.came, by)
		}
	}
	changed.ingresses, _ = mend(s.ingresses, c) // the list has all that the index has
	return &changed
}

// Replaced gives what WithIngresses put in the place of others, nil for nothing. It
// must not be changed.
func (s *Snapshot) Replaced() map[Name]*networkingv1.Ingress { return s.replaced }

// Removed gives the Ingresses that WithIngresses left out, the oldest first.
func (s *Snapshot) Removed() []*networkingv1.Ingress {
	var removed []*networkingv1.Ingress
	for name, replacement := range s.replaced {
		if was := s.byName.get(name); replacement == nil && was != nil {
			removed = append(removed, was)
		}
	}
	slices.SortFunc(removed, compareIngresses)
	return removed
}

// ByAge compares Ingresses in the order of Snapshot.Ingresses, the oldest first.
func ByAge(a, b *networkingv1.Ingress) int { return compareIngresses(a, b) }

// OnlyIngresses gives a snapshot with these Ingresses and no others. All else is
// shared with s, which stays as it is.
func (s *Snapshot) OnlyIngresses(some []*networkingv1.Ingress) *Snapshot {
	changed := *s
	changed.ingresses = slices.SortedFunc(slices.Values(some), compareIngresses)
	byName := make(map[Name]*networkingv1.Ingress, len(some))
	for _, ing := range some {
		byName[nameOf(ing)] = ing
	}
	changed.byName, changed.replaced = indexOf(byName), nil
	changed.mark, changed.recent = new(mark), nil
	return &changed
}

// WithConfigMap gives a snapshot in which cm takes the place of the ConfigMap
// of its name. All else is shared with s, which stays as it is.
func (s *Snapshot) WithConfigMap(cm *corev1.ConfigMap) *Snapshot {
	changed := *s
	changed.configMaps = s.configMaps.with(map[Name]entry[*corev1.ConfigMap]{nameOf(cm): {cm, true}})
	return &changed
}
