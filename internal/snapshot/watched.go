package snapshot

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Watch selects the namespaces that a controller watches. The zero value selects all.
type Watch struct {
	// Namespace is the only watched namespace; empty for all.
	Namespace string
	// Selector selects the namespaces of served Ingresses by label; nil for all.
	Selector labels.Selector
}

// Skips reports whether the Ingresses of a namespace are not served. A namespace with
// unknown labels counts as selected.
func (w Watch) Skips(o Objects, namespace string) bool {
	if w.Namespace != "" && namespace != w.Namespace {
		return true
	}
	if w.Selector == nil {
		return false
	}
	known, there := o.labels(namespace)
	return there && !w.Selector.Matches(known)
}

// Unlabelled returns the namespaces of Ingresses whose labels the selector needs but that
// are not among the objects; sorted.
func (w Watch) Unlabelled(o Objects) []string {
	var missing []string
	for _, object := range o.Ingresses {
		if _, there := o.labels(object.Namespace); w.Selector != nil && !there {
			missing = append(missing, object.Namespace)
		}
	}
	slices.Sort(missing)
	return slices.Compact(missing)
}

// labels returns the labels of a Namespace, with the label that the API server adds.
func (o Objects) labels(namespace string) (known labels.Set, there bool) {
	known = labels.Set{corev1.LabelMetadataName: namespace}
	at := slices.IndexFunc(o.Namespaces, func(n *corev1.Namespace) bool { return n.Name == namespace })
	if at < 0 {
		return known, false
	}
	return labels.Merge(o.Namespaces[at].Labels, known), true
}

// Watched returns the objects that a controller with w reads. ConfigMaps are read by name
// in any namespace, and the selector affects only Ingresses.
func (o Objects) Watched(w Watch) Objects {
	if w == (Watch{}) {
		return o
	}
	o.Ingresses = slices.DeleteFunc(slices.Clone(o.Ingresses), func(i *networkingv1.Ingress) bool { return w.Skips(o, i.Namespace) })
	if w.Namespace == "" {
		return o
	}
	o.Services, o.Secrets = in(w.Namespace, o.Services), in(w.Namespace, o.Secrets)
	o.EndpointSlices, o.Endpoints = in(w.Namespace, o.EndpointSlices), in(w.Namespace, o.Endpoints)
	o.Mirrored = slices.DeleteFunc(slices.Clone(o.Mirrored), func(m Mirrored) bool { return m.Source.Namespace != w.Namespace })
	return o
}

// in returns the objects of a namespace.
func in[T metav1.Object](namespace string, objects []T) []T {
	return slices.DeleteFunc(slices.Clone(objects), func(o T) bool { return o.GetNamespace() != namespace })
}
