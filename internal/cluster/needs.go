package cluster

import (
	"maps"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// needs holds the references of our Ingresses, and the inputs that they were computed
// from.
type needs struct {
	ingresses  []*networkingv1.Ingress
	classes    []*networkingv1.IngressClass
	unreadable bool
	known      *snapshot.Snapshot // of the classes; nil at first
	// each holds the references of each Ingress, by position.
	each []need

	// namespaces is the number of our Ingresses by namespace.
	namespaces          map[string]int
	secrets, configMaps []snapshot.Name
}

// need holds the references of one Ingress; empty if the Ingress is not ours.
type need struct {
	ours bool
	refs []model.ObjectRef
}

// update recomputes the references. It skips an Ingress if the pointer at its
// position is the same as before.
func (n *needs) update(ingresses []*networkingv1.Ingress, classes []*networkingv1.IngressClass, o translate.Options) {
	fresh := n.known == nil || n.unreadable != o.ClassesUnreadable || !slices.Equal(n.classes, classes)
	if !fresh && slices.Equal(n.ingresses, ingresses) {
		return
	}
	if fresh {
		known, _ := snapshot.New(snapshot.Objects{IngressClasses: classes})
		*n = needs{classes: classes, unreadable: o.ClassesUnreadable, known: known, namespaces: map[string]int{}}
	}
	others := fresh
	for i := range max(len(ingresses), len(n.ingresses)) {
		if i < min(len(ingresses), len(n.ingresses)) && ingresses[i] == n.ingresses[i] {
			continue
		}
		if i < len(n.ingresses) {
			others = n.leave(i) || others
		}
		if i < len(ingresses) {
			others = n.enter(i, ingresses[i], o) || others
		}
	}
	n.ingresses, n.each = ingresses, n.each[:len(ingresses)]
	if others {
		n.gather(o)
	}
}

// enter records the references of an Ingress, and reports whether there are any.
func (n *needs) enter(at int, ing *networkingv1.Ingress, o translate.Options) bool {
	if at == len(n.each) {
		n.each = append(n.each, need{})
	}
	n.each[at] = need{}
	if ours, _ := translate.Accepts(n.known, o, ing); ours {
		n.each[at] = need{true, translate.References(ing, o)}
		n.namespaces[ing.Namespace]++
	}
	return len(n.each[at].refs) > 0
}

// leave drops the references of the Ingress at a position, and reports whether there
// were any.
func (n *needs) leave(at int) bool {
	if namespace := n.ingresses[at].Namespace; n.each[at].ours {
		if n.namespaces[namespace]--; n.namespaces[namespace] == 0 {
			delete(n.namespaces, namespace)
		}
	}
	return len(n.each[at].refs) > 0
}

// gather collects the Secrets and ConfigMaps, sorted and without duplicates.
func (n *needs) gather(o translate.Options) {
	n.secrets, n.configMaps = nil, translate.ConfigMaps(n.classes, o)
	if o.DefaultCertificate != (snapshot.Name{}) {
		n.secrets = append(n.secrets, o.DefaultCertificate)
	}
	for _, one := range n.each {
		for _, ref := range one.refs {
			name := snapshot.Name{Namespace: ref.Namespace, Name: ref.Name}
			switch ref.Kind {
			case "Secret":
				n.secrets = append(n.secrets, name)
			case "ConfigMap":
				n.configMaps = append(n.configMaps, name)
			}
		}
	}
	for _, names := range []*[]snapshot.Name{&n.secrets, &n.configMaps} {
		slices.SortFunc(*names, snapshot.Name.Compare)
		*names = slices.Compact(*names)
	}
}

// routedNamespaces returns the namespaces that something routes to: those of our
// Ingresses, and those of other referenced Services.
func (s *Source) routedNamespaces() map[string]bool {
	all := map[string]bool{}
	for namespace := range s.needs.namespaces {
		all[namespace] = true
	}
	for _, name := range append(translate.Services(s.configMaps.get, s.o.Translate), s.o.Services...) {
		all[name.Namespace] = true
	}
	maps.DeleteFunc(all, func(namespace string, _ bool) bool {
		return namespace == "" || s.o.Namespace != "" && s.o.Namespace != namespace
	})
	return all
}
