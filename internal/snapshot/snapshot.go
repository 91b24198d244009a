// Package snapshot holds all objects of the cluster at one moment: one sorted, read-only
// value with indexes.
//
// It takes Kubernetes objects in any order, and returns a Snapshot that does not depend on
// the order. It never copies or changes an object: across snapshots, the same pointer
// means the same content.
//
//	snap, problems := snapshot.New(objects)
//	for _, ing := range snap.Ingresses() { ... }
package snapshot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	names "k8s.io/apimachinery/pkg/util/validation"

	"sluice/internal/model"
)

// LegacyClass is the annotation for the class of an Ingress from the time before
// spec.ingressClassName.
const LegacyClass = "kubernetes.io/ingress.class"

// Name is the name of an object of a known kind. Namespace is empty for kinds without
// namespaces.
type Name struct{ Namespace, Name string }

// String returns "namespace/name".
func (n Name) String() string { return n.Namespace + "/" + n.Name }

// ParseName parses "namespace/name". Both must be valid names.
func ParseName(text string) (Name, error) {
	namespace, name, found := strings.Cut(text, "/")
	if !found || !isLabel(namespace) || !isSubdomain(name) {
		return Name{}, fmt.Errorf("want namespace/name (got %s)", model.Quoted(text))
	}
	return Name{Namespace: namespace, Name: name}, nil
}

// ParseReference parses "namespace/name", or "name" for an object of the given namespace.
func ParseReference(text, namespace string) (Name, error) {
	if strings.Contains(text, "/") {
		return ParseName(text)
	}
	if !isSubdomain(text) {
		return Name{}, fmt.Errorf("want namespace/name, or the name alone (got %s)", model.Quoted(text))
	}
	return Name{Namespace: namespace, Name: text}, nil
}

// isLabel and isSubdomain report whether a value is a DNS label or name (RFC 1123).
func isLabel(value string) bool     { return len(names.IsDNS1123Label(value)) == 0 }
func isSubdomain(value string) bool { return len(names.IsDNS1123Subdomain(value)) == 0 }

// Compare orders by namespace and then by name.
func (n Name) Compare(o Name) int {
	return cmp.Or(strings.Compare(n.Namespace, o.Namespace), strings.Compare(n.Name, o.Name))
}

// Objects are the objects of a snapshot, in any order.
type Objects struct {
	Ingresses      []*networkingv1.Ingress
	IngressClasses []*networkingv1.IngressClass
	Services       []*corev1.Service
	EndpointSlices []*discoveryv1.EndpointSlice
	Endpoints      []*corev1.Endpoints
	Secrets        []*corev1.Secret
	ConfigMaps     []*corev1.ConfigMap
	// Forbidden are Secrets and ConfigMaps that the source has no permission to read.
	Forbidden  []model.ObjectRef
	Namespaces []*corev1.Namespace
	// Mirrored are results of Mirror for Endpoints, for Services without slices. A source
	// calls Mirror once for each object, so that the slices keep their pointers; New adds
	// the missing ones.
	Mirrored []Mirrored
}

// Append appends the objects of other.
func (o *Objects) Append(other Objects) {
	o.Ingresses = append(o.Ingresses, other.Ingresses...)
	o.IngressClasses = append(o.IngressClasses, other.IngressClasses...)
	o.Services = append(o.Services, other.Services...)
	o.EndpointSlices = append(o.EndpointSlices, other.EndpointSlices...)
	o.Endpoints = append(o.Endpoints, other.Endpoints...)
	o.Secrets = append(o.Secrets, other.Secrets...)
	o.ConfigMaps = append(o.ConfigMaps, other.ConfigMaps...)
	o.Forbidden = append(o.Forbidden, other.Forbidden...)
	o.Namespaces = append(o.Namespaces, other.Namespaces...)
	o.Mirrored = append(o.Mirrored, other.Mirrored...)
}

// Len returns the number of objects, without Mirrored and Forbidden.
func (o *Objects) Len() int {
	return len(o.Ingresses) + len(o.IngressClasses) + len(o.Services) + len(o.EndpointSlices) +
		len(o.Endpoints) + len(o.Secrets) + len(o.ConfigMaps) + len(o.Namespaces)
}

// Snapshot holds all objects at one moment. It never changes, and callers must not modify
// the objects and lists that it returns. Use New.
type Snapshot struct {
	ingresses  []*networkingv1.Ingress
	byName     *index[*networkingv1.Ingress]
	replaced   map[Name]*networkingv1.Ingress // overrides byName; nil means removed
	classes    []*networkingv1.IngressClass
	classNames *index[*networkingv1.IngressClass]
	services   *index[*corev1.Service]
	slices     *index[[]*discoveryv1.EndpointSlice]
	secrets    *index[*corev1.Secret]
	configMaps *index[*corev1.ConfigMap]
	namespaces *index[*corev1.Namespace]
	forbidden  []model.ObjectRef // sorted

	// mark identifies the objects of this snapshot. recent are the last steps to it, the
	// newest last.
	mark   *mark
	recent []step
}

// mark identifies the objects of a snapshot by its address.
type mark struct{ _ byte }

// step holds the changes from the snapshot with a mark to the next one.
type step struct {
	from    *mark
	changes Changes
}

// mostSteps is the maximum number of recent steps.
const mostSteps = 128

// Ingresses returns all Ingresses, the oldest first. Those of equal age are in descending
// order of "namespace/name", as in ingress-nginx.
func (s *Snapshot) Ingresses() []*networkingv1.Ingress { return s.ingresses }

// Ingress returns an Ingress, or nil.
func (s *Snapshot) Ingress(name Name) *networkingv1.Ingress {
	if ing, ok := s.replaced[name]; ok {
		return ing
	}
	return s.byName.get(name)
}

// IngressClasses returns all classes, sorted by name.
func (s *Snapshot) IngressClasses() []*networkingv1.IngressClass { return s.classes }

// IngressClass returns a class, or nil.
func (s *Snapshot) IngressClass(name string) *networkingv1.IngressClass {
	return s.classNames.get(Name{Name: name})
}

// Service returns a Service, or nil.
func (s *Snapshot) Service(name Name) *corev1.Service { return s.services.get(name) }

// HasSecrets reports whether there is any Secret.
func (s *Snapshot) HasSecrets() bool { return s.secrets != nil && s.secrets.length > 0 }

// Secret returns a Secret, or nil.
func (s *Snapshot) Secret(name Name) *corev1.Secret { return s.secrets.get(name) }

// ConfigMap returns a ConfigMap, or nil.
func (s *Snapshot) ConfigMap(name Name) *corev1.ConfigMap { return s.configMaps.get(name) }

// Forbids reports whether the source has no permission to read a Secret or ConfigMap, so
// that it does not know whether the object exists.
func (s *Snapshot) Forbids(object model.ObjectRef) bool {
	_, found := slices.BinarySearchFunc(s.forbidden, object, model.ObjectRef.Compare)
	return found
}

// Namespace returns a Namespace, or nil.
func (s *Snapshot) Namespace(name string) *corev1.Namespace {
	return s.namespaces.get(Name{Name: name})
}

// EndpointSlices returns the slices of a Service, sorted by name. If it has none, they are
// made from its core/v1 Endpoints (see Mirror).
func (s *Snapshot) EndpointSlices(service Name) []*discoveryv1.EndpointSlice {
	return s.slices.get(service)
}
