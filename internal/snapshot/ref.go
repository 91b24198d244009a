package snapshot

import (
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
)

// kindIngress is how an ObjectRef names Ingresses.
const kindIngress = "Ingress"

// IngressRef names an Ingress.
func IngressRef(name Name) model.ObjectRef {
	return model.ObjectRef{Kind: kindIngress, Namespace: name.Namespace, Name: name.Name}
}

// RefOf names an Ingress.
func RefOf(ing *networkingv1.Ingress) model.ObjectRef { return IngressRef(nameOf(ing)) }

// IsIngress tells a reference to an Ingress.
func IsIngress(ref model.ObjectRef) bool { return ref.Kind == kindIngress }

// IngressOf gives the Ingress that a reference names, nil for none and for a reference
// to an object of another kind.
func (s *Snapshot) IngressOf(ref model.ObjectRef) *networkingv1.Ingress {
	if !IsIngress(ref) {
		return nil
	}
	return s.Ingress(Name{Namespace: ref.Namespace, Name: ref.Name})
}
