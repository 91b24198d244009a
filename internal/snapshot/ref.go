package snapshot

import (
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
)

// kindIngress is the Kind of an ObjectRef of an Ingress.
const kindIngress = "Ingress"

// IngressRef returns the reference to an Ingress.
func IngressRef(name Name) model.ObjectRef {
	return model.ObjectRef{Kind: kindIngress, Namespace: name.Namespace, Name: name.Name}
}

// RefOf returns the reference to an Ingress.
func RefOf(ing *networkingv1.Ingress) model.ObjectRef { return IngressRef(NameOf(ing)) }

// IsIngress reports whether a reference is to an Ingress.
func IsIngress(ref model.ObjectRef) bool { return ref.Kind == kindIngress }

// IngressOf returns the Ingress of a reference; nil if there is none, or if the reference
// is of another kind.
func (s *Snapshot) IngressOf(ref model.ObjectRef) *networkingv1.Ingress {
	if !IsIngress(ref) {
		return nil
	}
	return s.Ingress(Name{Namespace: ref.Namespace, Name: ref.Name})
}
