package cluster

import (
	"maps"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"

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
	namespaces          map[string]int
	secrets, configMaps []snapshot.Name
}

// need is what one Ingress needs; nothing if it is not ours.
type need struct {
	ours    bool
	secrets []snapshot.Name
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
		*n = needs{classes: classes, unreadable: o.ClassesUnreadable, known: known, namespaces: map[string]int{}, configMaps: translate.ConfigMaps(classes, o)}
	}
	before, each, others := n.ingresses, make([]need, len(ingresses)), fresh
	for i, ing := range ingresses {
		if i < len(before) && before[i] == ing {
			each[i] = n.each[i]
			continue
		}
		if ours, _ := translate.Accepts(n.known, o, ing); ours {
			each[i] = need{true, translate.Secrets(ing, o)}
			n.namespaces[ing.Namespace]++
		}
		others = others || len(each[i].secrets) > 0
	}
	for i, ing := range before {
		if i < len(ingresses) && ingresses[i] == ing || !n.each[i].ours {
			continue
		}
		if n.namespaces[ing.Namespace]--; n.namespaces[ing.Namespace] == 0 {
			delete(n.namespaces, ing.Namespace)
		}
		others = others || len(n.each[i].secrets) > 0
	}
	n.ingresses, n.each = ingresses, each
	if others {
		n.gather(o.DefaultCertificate)
	}
}

// gather puts the Secrets together, sorted, each once.
func (n *needs) gather(certificate snapshot.Name) {
	n.secrets = nil
	if certificate != (snapshot.Name{}) {
		n.secrets = append(n.secrets, certificate)
	}
	for _, one := range n.each {
		n.secrets = append(n.secrets, one.secrets...)
	}
	slices.SortFunc(n.secrets, snapshot.Name.Compare)
	n.secrets = slices.Compact(n.secrets)
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
