package cluster

import (
	"maps"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// needs is what the Ingresses that are ours refer to, and what that was found out
// from.
type needs struct {
	ingresses  []*networkingv1.Ingress
	classes    []*networkingv1.IngressClass
	unreadable bool
	known      *snapshot.Snapshot // of the classes; nil at first
	// each are the needs of the Ingresses, in their places.
	each []need

	// namespaces counts the Ingresses of each.
	namespaces map[string]int
	secrets    []snapshot.Name
	// settings are the ConfigMaps that flags and IngressClasses name, headers those
	// that only Ingresses do.
	settings, headers []snapshot.Name
}

// need is what one Ingress needs; nothing if it is not ours.
type need struct {
	ours bool
	refs []model.ObjectRef
}

// update finds the needs out, those of Ingresses that are in the same place as
// before by a look at the pointer.
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

// enter notes what an Ingress needs. It reports whether it refers to anything.
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

// leave forgets what the Ingress of a place needed. It reports whether that referred
// to anything.
func (n *needs) leave(at int) bool {
	if namespace := n.ingresses[at].Namespace; n.each[at].ours {
		if n.namespaces[namespace]--; n.namespaces[namespace] == 0 {
			delete(n.namespaces, namespace)
		}
	}
	return len(n.each[at].refs) > 0
}

// gather puts the Secrets and ConfigMaps together, sorted, each once.
func (n *needs) gather(o translate.Options) {
	n.secrets, n.headers, n.settings = nil, nil, translate.ConfigMaps(n.classes, o)
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
				n.headers = append(n.headers, name)
			}
		}
	}
	for _, names := range []*[]snapshot.Name{&n.secrets, &n.settings, &n.headers} {
		slices.SortFunc(*names, snapshot.Name.Compare)
		*names = slices.Compact(*names)
	}
	n.headers = slices.DeleteFunc(n.headers, func(name snapshot.Name) bool {
		_, watched := slices.BinarySearchFunc(n.settings, name, snapshot.Name.Compare)
		return watched
	})
}

// routedNamespaces are those that something routes to: those of the Ingresses,
// and those of Services that are referred to otherwise.
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
