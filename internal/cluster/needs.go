package cluster

import (
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
// Services are needed whatever the Ingresses say.
func (n *needs) update(ingresses []*networkingv1.Ingress, classes []*networkingv1.IngressClass, o translate.Options, services []snapshot.Name) {
	if n.namespaces != nil && n.unreadable == o.ClassesUnreadable && slices.Equal(n.ingresses, ingresses) && slices.Equal(n.classes, classes) {
		return
	}
	known, _ := snapshot.New(snapshot.Objects{IngressClasses: classes})
	*n = needs{ingresses: ingresses, classes: classes, unreadable: o.ClassesUnreadable, namespaces: map[string]bool{}, configMaps: translate.ConfigMaps(classes, o)}
	for _, name := range append(slices.Clone(services), o.DefaultBackend) {
		if name != (snapshot.Name{}) {
			n.namespaces[name.Namespace] = true
		}
	}
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

// within leaves out what is in other namespaces than the one that is watched.
func (n *needs) within(namespace string) {
	if namespace == "" {
		return
	}
	for other := range n.namespaces {
		if other != namespace {
			delete(n.namespaces, other)
		}
	}
}
