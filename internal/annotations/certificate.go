package annotations

import networkingv1 "k8s.io/api/networking/v1"

// Certificates is where the Secrets of spec.tls are.
type Certificates struct {
	// Namespace is empty for that of the Ingress. The risk is low as the Secrets of
	// another namespace are taken only where they say so themselves.
	Namespace string `key:"tls-cert-namespace" risk:"low" validate:"namespace" doc:"Namespace of the Secrets that spec.tls names; each has to delegate itself to the namespace of the Ingress, by its annotation sluice.io/tls-delegation."`
}

// In gives the namespace for an Ingress.
func (c Certificates) In(ing *networkingv1.Ingress) string {
	if c.Namespace == "" {
		return ing.Namespace
	}
	return c.Namespace
}
