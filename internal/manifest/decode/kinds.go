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

// kind is a kind of object that Sluice reads.
type kind struct {
	apiVersion string
	namespaced bool
	// read decodes, completes and checks an object, and adds it to the batch.
	read func(b *batch, at place, raw []byte)
}

// kinds are the kinds by name, each in the one version that Sluice reads. init sets them,
// because the readers in them refer to kinds.
var kinds map[string]*kind

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

// isBuiltIn reports whether Kubernetes has or had the kind in a version: one of the same
// group, or of a group without a dot, which only Kubernetes uses. In other groups, a kind
// of the same name is something else.
func (k *kind) isBuiltIn(apiVersion string) bool {
	group, _, _ := strings.Cut(apiVersion, "/")
	own, _, _ := strings.Cut(k.apiVersion, "/")
	return group == own || !strings.Contains(group, ".")
}

// meant returns the kind that a misspelled kind probably means, "" for none: a List of
// it, its plural, or its name in other case.
func meant(h header) string {
	for name, k := range kinds {
		if k.isBuiltIn(h.APIVersion) && (plainKind(h.Kind) == plainKind(name) || plainKind(h.Kind) == plainKind(name)+"list") {
			return name
		}
	}
	return ""
}

// plainKind returns a kind in lower case, and without the end of a plural.
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

// reader returns the function that reads one kind of object: it decodes strictly, sets
// the namespace, calls check, which also sets defaults, and adds the object.
func reader[T any, P snapshot.Object[T]](check func(P) []fault, add func(*snapshot.Objects, P)) func(*batch, place, []byte) {
	return func(b *batch, at place, raw []byte) {
		decoded, faults := decode[T](raw, at.header.Kind == "Secret")
		if len(faults) > 0 {
			b.fail(at, faults)
			return
		}
		o := P(decoded)
		namespaced := kinds[at.header.Kind].namespaced
		if namespaced {
			o.SetNamespace(orDefault(at.header.Metadata.Namespace))
		}
		if faults := append(checkMeta(o, namespaced), check(o)...); len(faults) > 0 {
			b.fail(at, faults[:min(len(faults), maxFaults)])
			return
		}
		add(&b.objects, o)
	}
}

// orDefault returns the namespace, "default" if it is empty.
func orDefault(namespace string) string {
	if namespace == "" {
		return metav1.NamespaceDefault
	}
	return namespace
}

// decodeLoosely decodes the fields that fit, and ignores the rest.
func decodeLoosely(raw []byte, into any) error {
	return strict.UnmarshalCaseSensitivePreserveInts(raw, into)
}

// decode decodes a JSON object as an API server does with strict field validation. If
// secret is set, its faults contain no value.
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
