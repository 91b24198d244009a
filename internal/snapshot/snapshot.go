// Package snapshot says what the cluster says: one sorted, read-only value with
// its indexes.
//
// The input are Kubernetes objects; the output is a Snapshot that is the same in
// whatever order the objects arrived. Objects are never copied and never changed:
// the same pointer means the same content, from one snapshot to the next.
//
//	snap, problems := snapshot.New(objects)
//	for _, ing := range snap.Ingresses() { ... }
package snapshot

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	names "k8s.io/apimachinery/pkg/util/validation"
)

// LegacyClass is the annotation that named the class of an Ingress before
// spec.ingressClassName.
const LegacyClass = "kubernetes.io/ingress.class"

// Name names an object within its kind. Namespace is empty for kinds that have
// none.
type Name struct{ Namespace, Name string }

// String gives "namespace/name".
func (n Name) String() string { return n.Namespace + "/" + n.Name }

// ParseName takes "namespace/name" apart. Both must be valid names.
func ParseName(text string) (Name, error) {
	namespace, name, found := strings.Cut(text, "/")
	if !found || !isLabel(namespace) || !isSubdomain(name) {
		return Name{}, fmt.Errorf("want namespace/name (got %s)", Quoted(text))
	}
	return Name{Namespace: namespace, Name: name}, nil
}

// ParseReference takes "namespace/name" apart, or "name" for an object of the
// namespace that is given.
func ParseReference(text, namespace string) (Name, error) {
	if strings.Contains(text, "/") {
		return ParseName(text)
	}
	if !isSubdomain(text) {
		return Name{}, fmt.Errorf("want namespace/name, or the name alone (got %s)", Quoted(text))
	}
	return Name{Namespace: namespace, Name: text}, nil
}

// Quoted quotes a value for a message, cut where it is long.
func Quoted(value string) string {
	const longest = 80
	if len(value) <= longest {
		return strconv.Quote(value)
	}
	end := longest
	for end > 0 && !utf8.RuneStart(value[end]) {
		end--
	}
	return strconv.Quote(value[:end]) + "..."
}

// isLabel and isSubdomain report whether a value is a DNS label or name (RFC 1123).
func isLabel(value string) bool     { return len(names.IsDNS1123Label(value)) == 0 }
func isSubdomain(value string) bool { return len(names.IsDNS1123Subdomain(value)) == 0 }

// Compare orders by namespace and then by name.
func (n Name) Compare(o Name) int {
	return cmp.Or(strings.Compare(n.Namespace, o.Namespace), strings.Compare(n.Name, o.Name))
}

// Objects are the objects a snapshot is made of, in any order.
type Objects struct {
	Ingresses      []*networkingv1.Ingress
	IngressClasses []*networkingv1.IngressClass
	Services       []*corev1.Service
	EndpointSlices []*discoveryv1.EndpointSlice
	Endpoints      []*corev1.Endpoints
	Secrets        []*corev1.Secret
	ConfigMaps     []*corev1.ConfigMap
	// Forbidden are ConfigMaps that the source has no permission to read.
	Forbidden  []Name
	Namespaces []*corev1.Namespace
	// Mirrored is what Mirror made of Endpoints. It stands in for a Service
	// that has no slice. A source makes it once for each object, so that the
	// slices keep their pointers; New makes those that are missing.
	Mirrored []Mirrored
}

// Append adds the objects of other behind those of o.
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

// Len is the number of objects, without what was mirrored.
func (o *Objects) Len() int {
	return len(o.Ingresses) + len(o.IngressClasses) + len(o.Services) + len(o.EndpointSlices) +
		len(o.Endpoints) + len(o.Secrets) + len(o.ConfigMaps) + len(o.Namespaces)
}

// Snapshot is what the cluster says at one moment. It never changes; what it
// gives must not be changed either. Use New.
type Snapshot struct {
	ingresses  []*networkingv1.Ingress
	byName     *index[*networkingv1.Ingress]
	replaced   map[Name]*networkingv1.Ingress // goes before byName; nil: removed
	classes    []*networkingv1.IngressClass
	classNames *index[*networkingv1.IngressClass]
	services   *index[*corev1.Service]
	slices     *index[[]*discoveryv1.EndpointSlice]
	secrets    *index[*corev1.Secret]
	configMaps *index[*corev1.ConfigMap]
	namespaces *index[*corev1.Namespace]
	forbidden  []Name // sorted

	// mark tells the objects from those of other snapshots; recent are the last
	// steps to them, the newest last.
	mark   *mark
	recent []step
}

// mark stands for the objects that one snapshot was made of.
type mark struct{ _ byte }

// step is what changed from the objects of a mark to those of the next.
type step struct {
	from    *mark
	changes Changes
}

// mostSteps is how far back a snapshot knows what changed.
const mostSteps = 128

// Ingresses gives all Ingresses, the oldest first. Those of equal age are in
// descending order of "namespace/name", as ingress-nginx has them.
func (s *Snapshot) Ingresses() []*networkingv1.Ingress { return s.ingresses }

// Ingress gives an Ingress, or nil.
func (s *Snapshot) Ingress(name Name) *networkingv1.Ingress {
	if ing, ok := s.replaced[name]; ok {
		return ing
	}
	return s.byName.get(name)
}

// IngressClasses gives all classes, sorted by name.
func (s *Snapshot) IngressClasses() []*networkingv1.IngressClass { return s.classes }

// IngressClass gives a class, or nil.
func (s *Snapshot) IngressClass(name string) *networkingv1.IngressClass {
	return s.classNames.get(Name{Name: name})
}

// Service gives a Service, or nil.
func (s *Snapshot) Service(name Name) *corev1.Service { return s.services.get(name) }

// Secret gives a Secret, or nil.
func (s *Snapshot) Secret(name Name) *corev1.Secret { return s.secrets.get(name) }

// ConfigMap gives a ConfigMap, or nil.
func (s *Snapshot) ConfigMap(name Name) *corev1.ConfigMap { return s.configMaps.get(name) }

// Forbids reports whether the source has no permission to read a ConfigMap, so that
// nobody knows if it exists.
func (s *Snapshot) Forbids(configMap Name) bool {
	_, found := slices.BinarySearchFunc(s.forbidden, configMap, Name.Compare)
	return found
}

// Namespace gives a Namespace, or nil.
func (s *Snapshot) Namespace(name string) *corev1.Namespace {
	return s.namespaces.get(Name{Name: name})
}

// EndpointSlices gives the slices of a Service, sorted by name. Where the
// Service has none, they are made of its core/v1 Endpoints (see Mirror).
func (s *Snapshot) EndpointSlices(service Name) []*discoveryv1.EndpointSlice {
	return s.slices.get(service)
}
