package snapshot

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
)

// Builder makes one snapshot after the other, and reuses the indexes of unchanged
// objects. Its snapshots equal those of New. The zero value is ready. A Builder is not
// safe for concurrent use; its snapshots are.
type Builder struct {
	ingresses  indexed[networkingv1.Ingress, *networkingv1.Ingress]
	classes    indexed[networkingv1.IngressClass, *networkingv1.IngressClass]
	services   indexed[corev1.Service, *corev1.Service]
	slices     indexed[discoveryv1.EndpointSlice, *discoveryv1.EndpointSlice]
	endpoints  indexed[corev1.Endpoints, *corev1.Endpoints]
	secrets    indexed[corev1.Secret, *corev1.Secret]
	configMaps indexed[corev1.ConfigMap, *corev1.ConfigMap]
	namespaces indexed[corev1.Namespace, *corev1.Namespace]

	last *Snapshot
}

// Next is New for objects that are mostly those of the last call. It keeps the lists of o,
// which callers must not modify afterwards.
func (b *Builder) Next(o Objects) (*Snapshot, []model.Problem) {
	ingresses, classes := b.ingresses.take("Ingress", o.Ingresses), b.classes.take("IngressClass", o.IngressClasses)
	services, secrets := b.services.take("Service", o.Services), b.secrets.take("Secret", o.Secrets)
	b.configMaps.take("ConfigMap", o.ConfigMaps)
	b.namespaces.take("Namespace", o.Namespaces)
	s := &Snapshot{
		byName: b.ingresses.names, classNames: b.classes.names, services: b.services.names,
		secrets: b.secrets.names, configMaps: b.configMaps.names, namespaces: b.namespaces.names,
		forbidden: slices.SortedFunc(slices.Values(o.Forbidden), model.ObjectRef.Compare),
		mark:      new(mark),
	}
	if b.last != nil {
		s.ingresses, s.classes = b.last.ingresses, b.last.classes
	}
	if ingresses.any {
		s.ingresses = b.sort(o, ingresses)
	}
	if classes.any {
		s.classes = firsts(o.IngressClasses, s.classNames)
		slices.SortFunc(s.classes, func(a, b *networkingv1.IngressClass) int { return strings.Compare(a.Name, b.Name) })
	}
	var grouped groupChange
	s.slices, grouped = b.groups(o)
	if b.last != nil && ingresses.known() && services.known() && secrets.known() && grouped.known {
		changes := Changes{Ingresses: ingresses.changed(), Services: append(services.changed(), grouped.services...), Secrets: secrets.changed()}
		s.recent = append(slices.Clone(b.last.recent[max(len(b.last.recent)-mostSteps+1, 0):]), step{b.last.mark, changes})
	}
	b.last = s
	return s, model.SortProblems(b.problems())
}

// groupChange holds the Services whose slices changed, if they are known.
type groupChange struct {
	services []Name
	known    bool
}

// groups returns the slices of each Service.
func (b *Builder) groups(o Objects) (*index[[]*discoveryv1.EndpointSlice], groupChange) {
	changed, endpoints := b.slices.take("EndpointSlice", o.EndpointSlices), b.endpoints.take("Endpoints", o.Endpoints)
	switch {
	case !changed.any && !endpoints.any && b.last != nil:
		return b.last.slices, groupChange{known: true}
	case !endpoints.any && len(o.Endpoints) == 0 && changed.alone:
		groups, services := regroup(b.last.slices, changed)
		return groups, groupChange{services, true}
	}
	groups := bySlices(firsts(o.EndpointSlices, b.slices.names))
	addMirrored(groups, o.Mirrored, b.endpoints.names)
	return indexOf(groups), groupChange{}
}

func (b *Builder) problems() []model.Problem {
	return slices.Concat(b.ingresses.problems, b.classes.problems, b.services.problems, b.slices.problems,
		b.endpoints.problems, b.secrets.problems, b.configMaps.problems, b.namespaces.problems)
}

// sort returns the Ingresses, the oldest first. If few changed, it edits a copy of the
// previous list.
func (b *Builder) sort(o Objects, changed change[*networkingv1.Ingress]) []*networkingv1.Ingress {
	if changed.alone {
		if mended, ok := mend(b.last.ingresses, changed); ok {
			return mended
		}
	}
	sorted := firsts(o.Ingresses, b.ingresses.names)
	slices.SortFunc(sorted, compareIngresses)
	return sorted
}

// mend applies a change to a copy of a sorted list. ok is false if the list lacks an
// Ingress to remove.
func mend(sorted []*networkingv1.Ingress, changed change[*networkingv1.Ingress]) (mended []*networkingv1.Ingress, ok bool) {
	gone, came := changed.apart()
	slices.SortFunc(gone, compareIngresses)
	slices.SortFunc(came, compareIngresses)
	mended = make([]*networkingv1.Ingress, 0, len(sorted)+len(came))
	skipTo := func(ing *networkingv1.Ingress) {
		at, _ := slices.BinarySearchFunc(sorted, ing, compareIngresses)
		mended, sorted = append(mended, sorted[:at]...), sorted[at:]
	}
	for len(gone) > 0 || len(came) > 0 {
		if len(gone) == 0 || len(came) > 0 && compareIngresses(came[0], gone[0]) < 0 {
			skipTo(came[0])
			mended, came = append(mended, came[0]), came[1:]
			continue
		}
		skipTo(gone[0])
		if len(sorted) == 0 || sorted[0] != gone[0] {
			return nil, false
		}
		sorted, gone = sorted[1:], gone[1:]
	}
	return append(mended, sorted...), true
}

// regroup applies a change of slices to the groups, and returns the affected Services.
func regroup(groups *index[[]*discoveryv1.EndpointSlice], changed change[*discoveryv1.EndpointSlice]) (*index[[]*discoveryv1.EndpointSlice], []Name) {
	gone, came := changed.apart()
	regrouped := make(map[Name]entry[[]*discoveryv1.EndpointSlice], len(gone)+len(came))
	group := func(service Name) []*discoveryv1.EndpointSlice {
		if e, ok := regrouped[service]; ok {
			return e.value
		}
		return slices.Clone(groups.get(service))
	}
	for _, part := range gone {
		service := serviceOf(part)
		if service.Name == "" {
			continue
		}
		rest := slices.DeleteFunc(group(service), func(p *discoveryv1.EndpointSlice) bool { return p == part })
		regrouped[service] = entry[[]*discoveryv1.EndpointSlice]{rest, len(rest) > 0}
	}
	for _, part := range came {
		service := serviceOf(part)
		if service.Name == "" {
			continue
		}
		parts := group(service)
		at, _ := slices.BinarySearchFunc(parts, part.Name, func(p *discoveryv1.EndpointSlice, name string) int { return strings.Compare(p.Name, name) })
		regrouped[service] = entry[[]*discoveryv1.EndpointSlice]{slices.Insert(parts, at, part), true}
	}
	return groups.with(regrouped), slices.Collect(maps.Keys(regrouped))
}

// serviceOf returns the Service of a slice; its Name is empty if the slice has none.
func serviceOf(part *discoveryv1.EndpointSlice) Name {
	return Name{part.Namespace, part.Labels[discoveryv1.LabelServiceName]}
}
