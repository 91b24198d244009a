package cluster

import (
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// referring are the objects that refer to others.
type referring struct {
	ingresses []*networkingv1.Ingress
	classes   []*networkingv1.IngressClass
	// spaces and layers are the Namespaces and the ConfigMaps that give annotations to
	// Ingresses; layers are results of translate.OnlyLayers.
	spaces []*corev1.Namespace
	layers []*corev1.ConfigMap
}

// needs holds the references of our Ingresses, and the inputs that they were computed
// from.
type needs struct {
	of         referring
	unreadable bool
	known      *snapshot.Snapshot // of all but the Ingresses; nil at first
	settingsOf func(*networkingv1.Ingress) *settings.Settings
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
	// space is the Namespace of the Ingress, nil if it is not known.
	space *corev1.Namespace
}

// update recomputes the references. It skips an Ingress if the pointer at its
// position and its Namespace are the same as before.
func (n *needs) update(of referring, o translate.Options) {
	fresh := n.known == nil || n.unreadable != o.ClassesUnreadable || !slices.Equal(n.of.classes, of.classes) || !reflect.DeepEqual(n.of.layers, of.layers)
	spaces := fresh || !slices.Equal(n.of.spaces, of.spaces)
	if !spaces && slices.Equal(n.of.ingresses, of.ingresses) {
		return
	}
	if fresh {
		*n = needs{unreadable: o.ClassesUnreadable, namespaces: map[string]int{}}
		n.begin(of.classes, o)
	}
	if spaces {
		n.known, _ = snapshot.New(snapshot.Objects{IngressClasses: of.classes, ConfigMaps: of.layers, Namespaces: of.spaces})
		n.settingsOf = translate.Settings(n.known, o)
	}
	before := n.of.ingresses
	for i := range max(len(of.ingresses), len(before)) {
		if i < min(len(of.ingresses), len(before)) && of.ingresses[i] == before[i] && (!spaces || n.each[i].space == n.known.Namespace(before[i].Namespace)) {
			continue
		}
		if i < len(before) {
			n.leave(i)
		}
		if i < len(of.ingresses) {
			n.enter(i, of.ingresses[i], o)
		}
	}
	clear(n.each[len(of.ingresses):])
	n.of, n.each = of, n.each[:len(of.ingresses)]
}

// begin adds the references of flags and IngressClasses.
func (n *needs) begin(classes []*networkingv1.IngressClass, o translate.Options) {
	n.settings = translate.ConfigMaps(classes, o)
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
	n.each[at] = need{space: n.known.Namespace(ing.Namespace)}
	if ours, _ := translate.Accepts(n.known, o, ing); ours {
		n.each[at].ours, n.each[at].refs = true, translate.References(ing, n.settingsOf(ing), o)
		n.namespaces[ing.Namespace]++
	}
	n.count(at, 1)
}

// leave removes the references of the Ingress at a position.
func (n *needs) leave(at int) {
	if namespace := n.of.ingresses[at].Namespace; n.each[at].ours {
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
