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

// Builder makes one snapshot after the other and goes on using the indexes of
// what did not change. It only remembers: what it gives is what New gives. The
// zero value is ready. It is not safe for concurrent use; its snapshots are.
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

// Next is New for objects of which most are those of the call before.
func (b *Builder) Next(o Objects) (*Snapshot, []model.Problem) {
	ingresses, classes := b.ingresses.take("Ingress", o.Ingresses), b.classes.take("IngressClass", o.IngressClasses)
	services, secrets := b.services.take("Service", o.Services), b.secrets.take("Secret", o.Secrets)
	b.configMaps.take("ConfigMap", o.ConfigMaps)
	b.namespaces.take("Namespace", o.Namespaces)
	s := &Snapshot{
		byName: b.ingresses.names, classNames: b.classes.names, services: b.services.names,
		secrets: b.secrets.names, configMaps: b.configMaps.names, namespaces: b.namespaces.names,
		mark: new(mark),
	}
	s.ingresses, s.classes = b.last.sortedIngresses(), b.last.sortedClasses()
	if ingresses.any {
		s.ingresses = firsts(o.Ingresses, s.byName)
		slices.SortFunc(s.ingresses, compareIngresses)
	}
	if classes.any {
		s.classes = firsts(o.IngressClasses, s.classNames)
		slices.SortFunc(s.classes, func(a, b *networkingv1.IngressClass) int { return strings.Compare(a.Name, b.Name) })
	}
	var grouped groupChange
	s.slices, grouped = b.groups(o)
	if b.last != nil && ingresses.known() && services.known() && secrets.known() && grouped.known {
		s.after = b.last.mark
		s.changes = Changes{Ingresses: ingresses.names(), Services: append(services.names(), grouped.services...), Secrets: secrets.names()}
	}
	b.last = s
	return s, model.SortProblems(b.problems())
}

// groupChange are the Services whose slices changed, if they are known.
type groupChange struct {
	services []Name
	known    bool
}

// groups gives the slices of each Service.
func (b *Builder) groups(o Objects) (map[Name][]*discoveryv1.EndpointSlice, groupChange) {
	changed, endpoints := b.slices.take("EndpointSlice", o.EndpointSlices), b.endpoints.take("Endpoints", o.Endpoints)
	switch {
	case !changed.any && !endpoints.any && b.last != nil:
		return b.last.slices, groupChange{known: true}
	case !endpoints.any && len(o.Endpoints) == 0 && changed.onlyReplaced(sameService):
		groups, services := regroup(b.last.slices, changed.replaced)
		return groups, groupChange{services, true}
	}
	groups := bySlices(firsts(o.EndpointSlices, b.slices.names))
	addMirrored(groups, o.Mirrored, b.endpoints.names)
	return groups, groupChange{}
}

func (b *Builder) problems() []model.Problem {
	return slices.Concat(b.ingresses.problems, b.classes.problems, b.services.problems, b.slices.problems,
		b.endpoints.problems, b.secrets.problems, b.configMaps.problems, b.namespaces.problems)
}

func (s *Snapshot) sortedIngresses() []*networkingv1.Ingress {
	if s == nil {
		return nil
	}
	return s.ingresses
}

func (s *Snapshot) sortedClasses() []*networkingv1.IngressClass {
	if s == nil {
		return nil
	}
	return s.classes
}

// sameService says whether two slices belong to one Service.
func sameService(a, b *discoveryv1.EndpointSlice) bool {
	return a.Labels[discoveryv1.LabelServiceName] == b.Labels[discoveryv1.LabelServiceName]
}

// regroup puts slices in the places of those that they replace, in a copy, and
// names their Services.
func regroup(groups map[Name][]*discoveryv1.EndpointSlice, replaced []replacement[*discoveryv1.EndpointSlice]) (map[Name][]*discoveryv1.EndpointSlice, []Name) {
	groups = maps.Clone(groups)
	services := make([]Name, 0, len(replaced))
	for _, r := range replaced {
		service := Name{r.by.Namespace, r.by.Labels[discoveryv1.LabelServiceName]}
		group := slices.Clone(groups[service])
		if at := slices.Index(group, r.was); at >= 0 {
			group[at] = r.by
			groups[service] = group
			services = append(services, service)
		}
	}
	return groups, services
}
