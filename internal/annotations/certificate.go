package annotations

import (
	"cmp"

	networkingv1 "k8s.io/api/networking/v1"
)

// Certificates is the namespace of the Secrets in spec.tls.
type Certificates struct {
	// Namespace is empty for that of the Ingress. The risk is low, because Secrets of
	// another namespace must delegate themselves.
	Namespace string `key:"tls-cert-namespace" risk:"low" validate:"namespace" costs:"all" doc:"Namespace of the Secrets in spec.tls. Each must delegate itself to the namespace of the Ingress with its annotation sluice.io/tls-delegation."`
}

// In returns the namespace of the Secrets of an Ingress.
func (c Certificates) In(ing *networkingv1.Ingress) string {
	return cmp.Or(c.Namespace, ing.Namespace)
}
