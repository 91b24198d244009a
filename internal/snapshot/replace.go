package snapshot

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// WithIngresses returns a snapshot in which the named Ingresses are replaced, added, or
// removed if the value is nil. It shares the rest with s, which does not change.
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

// Replaced returns the replacements of WithIngresses, nil for none. Callers must not
// modify them.
func (s *Snapshot) Replaced() map[Name]*networkingv1.Ingress { return s.replaced }

// Removed returns the Ingresses that WithIngresses removed, the oldest first.
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

// OnlyIngresses returns a snapshot with these Ingresses and no others. It shares the rest
// with s, which does not change.
func (s *Snapshot) OnlyIngresses(some []*networkingv1.Ingress) *Snapshot {
	changed := *s
	changed.ingresses = slices.SortedFunc(slices.Values(some), compareIngresses)
	byName := make(map[Name]*networkingv1.Ingress, len(some))
	for _, ing := range some {
		byName[NameOf(ing)] = ing
	}
	changed.byName, changed.replaced = indexOf(byName), nil
	changed.mark, changed.recent = new(mark), nil
	return &changed
}

// WithConfigMap returns a snapshot in which cm replaces the ConfigMap of its name. It
// shares the rest with s, which does not change.
func (s *Snapshot) WithConfigMap(cm *corev1.ConfigMap) *Snapshot {
	changed := *s
	changed.configMaps = s.configMaps.with(map[Name]entry[*corev1.ConfigMap]{NameOf(cm): {cm, true}})
	return &changed
}
