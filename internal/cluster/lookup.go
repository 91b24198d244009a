package cluster

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// Ingress returns the name, versions and status of an Ingress as the API server has
// it, for writers of the status; nil if it does not exist.
func (s *Source) Ingress(name snapshot.Name) *networkingv1.Ingress {
	o := s.ingresses.get(name)
	if o == nil {
		return nil
	}
	return &networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Name, UID: o.UID, ResourceVersion: s.ingresses.version(name)},
		Status:     networkingv1.IngressStatus{LoadBalancer: s.Published(name)},
	}
}

// Lookup returns the uid and the version of the object of a Problem; false if it is
// not known.
func (s *Source) Lookup(ref model.ObjectRef) (uid types.UID, version string, ok bool) {
	name := snapshot.Name{Namespace: ref.Namespace, Name: ref.Name}
	switch ref.Kind {
	case "Ingress":
		return known(&s.ingresses, name)
	case "IngressClass":
		return known(&s.classes, name)
	case "Service":
		return known(&s.routed.services, name)
	case "ConfigMap":
		if o := cmp.Or(s.configMaps.get(name), s.headers.named(name)); o != nil {
			return o.UID, "", true
		}
	}
	return "", "", false
}

func known[T any, P snapshot.Object[T]](c *collection[T, P], name snapshot.Name) (types.UID, string, bool) {
	o := c.get(name)
	if o == nil {
		return "", "", false
	}
	return o.GetUID(), c.version(name), true
}

// Touch causes Load to be called again soon.
func (s *Source) Touch() { s.signal.touch() }

// Service returns a Service, nil if it is not known. The pointer stays the same until
// the Service changes. Callers must not modify it.
func (s *Source) Service(name snapshot.Name) *corev1.Service { return s.routed.services.get(name) }
