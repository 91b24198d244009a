package cluster

import (
	"slices"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// needs is what the Ingresses that are ours refer to.
type needs struct {
	ingresses []*networkingv1.Ingress
	classes   []*networkingv1.IngressClass

	namespaces          map[string]bool
	secrets, configMaps []snapshot.Name
}

// update finds the needs out, unless nothing changed that they depend on.
func (n *needs) update(s *Source, ingresses []*networkingv1.Ingress, classes []*networkingv1.IngressClass) {
	if n.namespaces != nil && slices.Equal(n.ingresses, ingresses) && slices.Equal(n.classes, classes) {
		return
	}
	o := s.o.Translate
	known, _ := snapshot.New(snapshot.Objects{IngressClasses: classes})
	*n = needs{ingresses: ingresses, classes: classes, namespaces: map[string]bool{}, configMaps: translate.ConfigMaps(classes, o)}
	wanted := map[snapshot.Name]bool{}
	if o.DefaultCertificate != (snapshot.Name{}) {
		wanted[o.DefaultCertificate] = true
	}
	for _, name := range append(slices.Clone(s.o.Services), o.DefaultBackend) {
		if name != (snapshot.Name{}) && (s.o.Namespace == "" || s.o.Namespace == name.Namespace) {
			n.namespaces[name.Namespace] = true
		}
	}
	for _, ing := range ingresses {
		if ours, _ := translate.Accepts(known, o, ing); !ours {
			continue
		}
		n.namespaces[ing.Namespace] = true
		for _, name := range translate.Secrets(ing, o) {
			wanted[name] = true
		}
	}
	for name := range wanted {
		n.secrets = append(n.secrets, name)
	}
	slices.SortFunc(n.secrets, snapshot.Name.Compare)
}
