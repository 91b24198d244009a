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

	// namespaces counts the Ingresses of each namespace.
	namespaces map[string]int
	// settings are the ConfigMaps that flags and IngressClasses refer to, sorted; headers
	// those that only Ingresses refer to.
	settings         []snapshot.Name
	secrets, headers tally
	// global are the Secrets that flags and settings refer to; secrets counts them too.
	global []snapshot.Name
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
		n.begin(o)
	}
	for i := range max(len(ingresses), len(n.ingresses)) {
		if i < min(len(ingresses), len(n.ingresses)) && ingresses[i] == n.ingresses[i] {
			continue
		}
		if i < len(n.ingresses) {
			n.leave(i)
		}
		if i < len(ingresses) {
			n.enter(i, ingresses[i], o)
		}
	}
	clear(n.each[len(ingresses):])
	n.ingresses, n.each = ingresses, n.each[:len(ingresses)]
}

// begin adds the ConfigMaps of flags and IngressClasses.
func (n *needs) begin(o translate.Options) {
	n.settings = translate.ConfigMaps(n.classes, o)
	slices.SortFunc(n.settings, snapshot.Name.Compare)
	n.settings = slices.Compact(n.settings)
}

// follow sets the Secrets that flags and settings refer to.
func (n *needs) follow(names []snapshot.Name) {
	for _, name := range names {
		n.secrets.add(name, 1)
	}
	for _, name := range n.global {
		n.secrets.add(name, -1)
	}
	n.global = names
}

// enter adds the references of an Ingress at a position.
func (n *needs) enter(at int, ing *networkingv1.Ingress, o translate.Options) {
	if at == len(n.each) {
		n.each = append(n.each, need{})
	}
	n.each[at] = need{}
	if ours, _ := translate.Accepts(n.known, o, ing); ours {
		n.each[at] = need{true, translate.References(ing, o)}
		n.namespaces[ing.Namespace]++
	}
	n.count(at, 1)
}

// leave removes the references of the Ingress at a position.
func (n *needs) leave(at int) {
	if namespace := n.ingresses[at].Namespace; n.each[at].ours {
		if n.namespaces[namespace]--; n.namespaces[namespace] == 0 {
			delete(n.namespaces, namespace)
		}
	}
	n.count(at, -1)
}

// count adds the Secrets and ConfigMaps of the Ingress at a position, or removes them if by
// is negative.
func (n *needs) count(at, by int) {
	for _, ref := range n.each[at].refs {
		name := snapshot.Name{Namespace: ref.Namespace, Name: ref.Name}
		switch ref.Kind {
		case "Secret":
			n.secrets.add(name, by)
		case "ConfigMap":
			if _, watched := slices.BinarySearchFunc(n.settings, name, snapshot.Name.Compare); !watched {
				n.headers.add(name, by)
			}
		}
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
