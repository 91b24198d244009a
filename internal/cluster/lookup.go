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

// Ingress gives the name, the versions and the status of an Ingress as the API
// server has it, for those who write the status; nil if it is not there.
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

// Lookup gives the uid and the version of an object that something is to be said
// of; false if it is not known.
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

func known[T any, P object[T]](c *collection[T, P], name snapshot.Name) (types.UID, string, bool) {
	o := c.get(name)
	if o == nil {
		return "", "", false
	}
	return o.GetUID(), c.version(name), true
}

// Touch has Load called again soon.
func (s *Source) Touch() { s.signal.touch() }

// Service gives a Service, nil if it is not known. It stays the same pointer as
// long as it does not change, and must not be changed.
func (s *Source) Service(name snapshot.Name) *corev1.Service { return s.routed.services.get(name) }
