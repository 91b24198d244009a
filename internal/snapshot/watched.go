package snapshot

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Watched gives what a controller sees that watches one namespace; all if it is empty.
// ConfigMaps are read by their names, wherever they are.
func (o Objects) Watched(namespace string) Objects {
	if namespace == "" {
		return o
	}
	o.Ingresses, o.Services = in(namespace, o.Ingresses), in(namespace, o.Services)
	o.EndpointSlices, o.Endpoints = in(namespace, o.EndpointSlices), in(namespace, o.Endpoints)
	o.Secrets = in(namespace, o.Secrets)
	o.Mirrored = slices.DeleteFunc(slices.Clone(o.Mirrored), func(m Mirrored) bool { return m.Source.Namespace != namespace })
	return o
}

// in gives the objects of a namespace.
func in[T metav1.Object](namespace string, objects []T) []T {
	return slices.DeleteFunc(slices.Clone(objects), func(o T) bool { return o.GetNamespace() != namespace })
}
