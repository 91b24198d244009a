package cluster

import (
	"strings"
	"unique"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/claim"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// one returns the shared copy of a text that many objects contain.
func one(text string) string { return unique.Make(text).Value() }

// onePointer is one for optional texts.
func onePointer[T ~string](text *T) *T {
	if text == nil {
		return nil
	}
	shared := T(one(string(*text)))
	return &shared
}

// Shared booleans for pointers in objects.
var yes, no = true, false

func oneBool(b *bool) *bool {
	switch {
	case b == nil:
		return nil
	case *b:
		return &yes
	}
	return &no
}

// stripMeta keeps the name, the age and the version of an object.
func stripMeta(o *metav1.ObjectMeta) {
	*o = metav1.ObjectMeta{
		Namespace: one(o.Namespace), Name: o.Name, UID: o.UID, ResourceVersion: o.ResourceVersion,
		CreationTimestamp: o.CreationTimestamp, Annotations: o.Annotations, Labels: o.Labels,
	}
}

// stripAnnotations drops the annotation in which kubectl keeps a copy of the whole
// object.
func stripAnnotations(o *metav1.ObjectMeta) {
	delete(o.Annotations, corev1.LastAppliedConfigAnnotation)
	if len(o.Annotations) == 0 {
		o.Annotations = nil
		return
	}
	shared := make(map[string]string, len(o.Annotations))
	for key, value := range o.Annotations {
		shared[one(key)] = value
	}
	o.Annotations = shared
}

func stripIngress(o *networkingv1.Ingress) {
	stripMeta(&o.ObjectMeta)
	stripAnnotations(&o.ObjectMeta)
	o.Labels = nil
	o.Spec.IngressClassName = onePointer(o.Spec.IngressClassName)
	for i := range o.Spec.Rules {
		if http := o.Spec.Rules[i].HTTP; http != nil {
			stripPaths(http.Paths)
		}
	}
}

func stripPaths(paths []networkingv1.HTTPIngressPath) {
	for i := range paths {
		paths[i].PathType = onePathType(paths[i].PathType)
		if service := paths[i].Backend.Service; service != nil {
			service.Name, service.Port.Name = one(service.Name), one(service.Port.Name)
		}
	}
}

// Shared path types for pointers in objects.
var exact, prefix, implementationSpecific = networkingv1.PathTypeExact, networkingv1.PathTypePrefix, networkingv1.PathTypeImplementationSpecific

func onePathType(t *networkingv1.PathType) *networkingv1.PathType {
	if t == nil {
		return nil
	}
	for _, shared := range []*networkingv1.PathType{&exact, &prefix, &implementationSpecific} {
		if *shared == *t {
			return shared
		}
	}
	return t
}

func stripClass(o *networkingv1.IngressClass) {
	stripMeta(&o.ObjectMeta)
	stripAnnotations(&o.ObjectMeta)
	o.Labels = nil
}

// stripService keeps the ports, whether it has a selector, how endpoints are chosen by zones, and the fields with addresses for the status of
// Ingresses.
func stripService(o *corev1.Service) {
	stripMeta(&o.ObjectMeta)
	mode := o.Annotations[corev1.AnnotationTopologyMode]
	o.Labels, o.Annotations, o.CreationTimestamp = nil, nil, metav1.Time{}
	if mode != "" {
		o.Annotations = map[string]string{one(corev1.AnnotationTopologyMode): one(mode)}
	}
	spec := &o.Spec
	selects := len(spec.Selector) > 0
	o.Spec = corev1.ServiceSpec{
		Type: corev1.ServiceType(one(string(spec.Type))), ClusterIP: spec.ClusterIP, ClusterIPs: spec.ClusterIPs,
		ExternalIPs: spec.ExternalIPs, ExternalName: spec.ExternalName, Ports: spec.Ports,
		TrafficDistribution: onePointer(spec.TrafficDistribution),
	}
	for i := range o.Spec.Ports {
		p := &o.Spec.Ports[i]
		*p = corev1.ServicePort{Name: one(p.Name), Protocol: corev1.Protocol(one(string(p.Protocol))), Port: p.Port, TargetPort: p.TargetPort}
		p.TargetPort.StrVal = one(p.TargetPort.StrVal)
	}
	if selects {
		o.Spec.Selector = hasSelector
	}
	o.Status.Conditions = nil
}

// hasSelector stands for any selector: only whether there is one counts.
var hasSelector = map[string]string{"selector": "any"}

// stripSlice keeps addresses, conditions and ports, its Service and who writes it.
func stripSlice(o *discoveryv1.EndpointSlice) {
	stripMeta(&o.ObjectMeta)
	service, by := o.Labels[discoveryv1.LabelServiceName], o.Labels[discoveryv1.LabelManagedBy]
	o.Labels, o.Annotations, o.CreationTimestamp, o.UID = nil, nil, metav1.Time{}, ""
	if service != "" {
		o.Labels = map[string]string{one(discoveryv1.LabelServiceName): one(service)}
		if by != "" {
			o.Labels[one(discoveryv1.LabelManagedBy)] = one(by)
		}
	}
	o.AddressType = discoveryv1.AddressType(one(string(o.AddressType)))
	for i := range o.Endpoints {
		e := &o.Endpoints[i]
		*e = discoveryv1.Endpoint{Addresses: e.Addresses, Hints: zonesOf(e.Hints), Conditions: discoveryv1.EndpointConditions{
			Ready: oneBool(e.Conditions.Ready), Serving: oneBool(e.Conditions.Serving), Terminating: oneBool(e.Conditions.Terminating),
		}}
	}
	for i := range o.Ports {
		p := &o.Ports[i]
		*p = discoveryv1.EndpointPort{Name: onePointer(p.Name), Protocol: onePointer(p.Protocol), Port: p.Port}
	}
}

// zonesOf keeps the zones of hints.
func zonesOf(hints *discoveryv1.EndpointHints) *discoveryv1.EndpointHints {
	if hints == nil || len(hints.ForZones) == 0 {
		return nil
	}
	kept := &discoveryv1.EndpointHints{}
	for _, zone := range hints.ForZones {
		kept.ForZones = append(kept.ForZones, discoveryv1.ForZone{Name: one(zone.Name)})
	}
	return kept
}

// stripSecret keeps the content and the delegation.
func stripSecret(o *corev1.Secret) {
	stripMeta(&o.ObjectMeta)
	stripAnnotations(&o.ObjectMeta)
	o.Labels, o.CreationTimestamp = nil, metav1.Time{}
}

func stripConfigMap(o *corev1.ConfigMap) {
	stripMeta(&o.ObjectMeta)
	delegation, delegates := o.Annotations[translate.ConfigMapDelegation]
	o.Labels, o.Annotations, o.CreationTimestamp, o.BinaryData = nil, nil, metav1.Time{}, nil
	if delegates {
		o.Annotations = map[string]string{translate.ConfigMapDelegation: delegation}
	}
}

func stripNamespace(o *corev1.Namespace) {
	stripMeta(&o.ObjectMeta)
	kept := map[string]string{}
	for name, value := range o.Annotations {
		if strings.HasPrefix(name, settings.NamespacePrefix) {
			kept[name] = value
		}
	}
	if delegation := translate.HostDelegationOf(o); delegation != "" {
		kept[claim.HostDelegation] = delegation
	}
	o.Labels, o.Annotations, o.CreationTimestamp = nil, nil, metav1.Time{}
	if len(kept) > 0 {
		o.Annotations = kept
	}
	o.Spec, o.Status = corev1.NamespaceSpec{}, corev1.NamespaceStatus{}
}

// Stripped returns copies of objects as a Source holds them, without unused fields. It is
// for tests of other packages, which hold that nobody misses these fields.
func Stripped(o snapshot.Objects) snapshot.Objects {
	return snapshot.Objects{
		Ingresses: stripped(o.Ingresses, (*networkingv1.Ingress).DeepCopy, stripIngress), IngressClasses: stripped(o.IngressClasses, (*networkingv1.IngressClass).DeepCopy, stripClass),
		Services: stripped(o.Services, (*corev1.Service).DeepCopy, stripService), EndpointSlices: stripped(o.EndpointSlices, (*discoveryv1.EndpointSlice).DeepCopy, stripSlice),
		Secrets: stripped(o.Secrets, (*corev1.Secret).DeepCopy, stripSecret), ConfigMaps: stripped(o.ConfigMaps, (*corev1.ConfigMap).DeepCopy, stripConfigMap),
		Namespaces: stripped(o.Namespaces, (*corev1.Namespace).DeepCopy, stripNamespace),
	}
}

func stripped[P any](list []P, clone func(P) P, strip func(P)) []P {
	copies := make([]P, len(list))
	for i, o := range list {
		copies[i] = clone(o)
		strip(copies[i])
	}
	return copies
}
