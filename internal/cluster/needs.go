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

	namespaces          map[string]bool
	secrets, configMaps []snapshot.Name
}

// update finds the needs out, unless nothing changed that they depend on.
func (n *needs) update(ingresses []*networkingv1.Ingress, classes []*networkingv1.IngressClass, o translate.Options) {
	if n.namespaces != nil && n.unreadable == o.ClassesUnreadable && slices.Equal(n.ingresses, ingresses) && slices.Equal(n.classes, classes) {
		return
	}
	known, _ := snapshot.New(snapshot.Objects{IngressClasses: classes})
	*n = needs{ingresses: ingresses, classes: classes, unreadable: o.ClassesUnreadable, namespaces: map[string]bool{}, configMaps: translate.ConfigMaps(classes, o)}
	if o.DefaultCertificate != (snapshot.Name{}) {
		n.secrets = append(n.secrets, o.DefaultCertificate)
	}
	for _, ing := range ingresses {
		if ours, _ := translate.Accepts(known, o, ing); ours {
			n.namespaces[ing.Namespace] = true
			n.secrets = append(n.secrets, translate.Secrets(ing, o)...)
		}
	}
	slices.SortFunc(n.secrets, snapshot.Name.Compare)
	n.secrets = slices.Compact(n.secrets)
}

// routedNamespaces are those that something routes to: those of the Ingresses,
// and those of Services that are referred to otherwise.
func (s *Source) routedNamespaces() map[string]bool {
	all := maps.Clone(s.needs.namespaces)
	for _, name := range append(translate.Services(s.configMaps.get, s.o.Translate), s.o.Services...) {
		all[name.Namespace] = true
	}
	maps.DeleteFunc(all, func(namespace string, _ bool) bool {
		return namespace == "" || s.o.Namespace != "" && s.o.Namespace != namespace
	})
	return all
}
