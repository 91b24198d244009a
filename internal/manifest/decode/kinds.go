package decode

import (
	"encoding/json"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	strict "sigs.k8s.io/json"

	"sluice/internal/snapshot"
)

// kind is a kind of object that is read.
type kind struct {
	apiVersion string
	namespaced bool
	// read decodes, completes and checks an object and puts it into the batch.
	read func(b *batch, at place, raw []byte)
}

// kinds are the kinds that are read, in the one version that is read.
var kinds map[string]*kind

// init and not a literal: readers ask kinds for the names in their errors.
func init() {
	const core, networking, discovery = "v1", "networking.k8s.io/v1", "discovery.k8s.io/v1"
	kinds = map[string]*kind{
		"Ingress": {networking, true, reader(checkIngress, func(o *snapshot.Objects, i *networkingv1.Ingress) { o.Ingresses = append(o.Ingresses, i) })},
		"IngressClass": {networking, false, reader(checkIngressClass, func(o *snapshot.Objects, c *networkingv1.IngressClass) {
			o.IngressClasses = append(o.IngressClasses, c)
		})},
		"Service": {core, true, reader(checkService, func(o *snapshot.Objects, s *corev1.Service) { o.Services = append(o.Services, s) })},
		"EndpointSlice": {discovery, true, reader(checkEndpointSlice, func(o *snapshot.Objects, s *discoveryv1.EndpointSlice) {
			o.EndpointSlices = append(o.EndpointSlices, s)
		})},
		"Endpoints": {core, true, reader(checkEndpoints, addEndpoints)},
		"Secret":    {core, true, reader(checkSecret, func(o *snapshot.Objects, s *corev1.Secret) { o.Secrets = append(o.Secrets, s) })},
		"ConfigMap": {core, true, reader(checkConfigMap, func(o *snapshot.Objects, c *corev1.ConfigMap) { o.ConfigMaps = append(o.ConfigMaps, c) })},
		"Namespace": {core, false, reader(checkNamespace, func(o *snapshot.Objects, n *corev1.Namespace) { o.Namespaces = append(o.Namespaces, n) })},
	}
}

// isBuiltIn says whether a version is one that Kubernetes has or had the kind in: of
// the same group, or of one without a dot, as no group of others is. Kinds of the
// same name in other groups are other things.
func (k *kind) isBuiltIn(apiVersion string) bool {
	group, _, _ := strings.Cut(apiVersion, "/")
	own, _, _ := strings.Cut(k.apiVersion, "/")
	return group == own || !strings.Contains(group, ".")
}

// meant gives the kind that another was meant to be, "" for none: a List of it, its
// plural, or its name in other letters. No two kinds that are read differ in that alone.
func meant(h header) string {
	for name, k := range kinds {
		if k.isBuiltIn(h.APIVersion) && (plainKind(h.Kind) == plainKind(name) || plainKind(h.Kind) == plainKind(name)+"list") {
			return name
		}
	}
	return ""
}

// plainKind is a kind without what differs between its plural and its singular.
func plainKind(kind string) string {
	kind, isList := strings.CutSuffix(strings.ToLower(kind), "list")
	kind = strings.TrimRight(kind, "es")
	if isList {
		kind += "list"
	}
	return kind
}

func addEndpoints(o *snapshot.Objects, e *corev1.Endpoints) {
	o.Endpoints = append(o.Endpoints, e)
	o.Mirrored = append(o.Mirrored, snapshot.Mirror(e))
}

// object is a pointer to a Kubernetes object type.
type object[T any] interface {
	*T
	metav1.Object
}

// reader makes the function that reads one kind of object: decode strictly,
// give it its namespace, check it (which also fills in defaults), add it.
func reader[T any, P object[T]](check func(P) []fault, add func(*snapshot.Objects, P)) func(*batch, place, []byte) {
	return func(b *batch, at place, raw []byte) {
		decoded, faults := decode[T](raw, at.header.Kind == "Secret")
		if len(faults) > 0 {
			b.fail(at, faults)
			return
		}
		o := P(decoded)
		namespaced := kinds[at.header.Kind].namespaced
		if namespaced {
			o.SetNamespace(orDefault(o.GetNamespace()))
		}
		if faults := append(checkMeta(o, namespaced), check(o)...); len(faults) > 0 {
			b.fail(at, faults[:min(len(faults), maxFaults)])
			return
		}
		add(&b.objects, o)
	}
}

// orDefault gives the namespace of an object that names none.
func orDefault(namespace string) string {
	if namespace == "" {
		return metav1.NamespaceDefault
	}
	return namespace
}

// decodeLoosely decodes what fits and leaves out the rest.
func decodeLoosely(raw []byte, into any) error {
	return strict.UnmarshalCaseSensitivePreserveInts(raw, into)
}

// decode decodes a JSON object as an API server does with strict field
// validation. Of a secret no value is told.
func decode[T any](raw []byte, secret bool) (*T, []fault) {
	value := new(T)
	lax, err := strict.UnmarshalStrict(raw, value)
	if err == nil && len(lax) == 0 {
		return value, nil
	}
	e := explainer{secret: secret}
	e.value("", json.RawMessage(raw), reflect.TypeFor[T]())
	switch {
	case len(e.faults) > 0:
	case secret:
		e.add("", "want an object that decodes (got one that does not)")
	case err != nil:
		e.add("", "want an object that decodes: "+err.Error())
	default:
		e.add("", "want an object that decodes: "+lax[0].Error())
	}
	return nil, e.faults
}
