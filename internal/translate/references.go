package translate

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/policy"
	"sluice/internal/snapshot"
)

// Secrets are the Secrets that an Ingress may make Config look at, sorted, each
// once: those of its tls section, and those that its annotations name. A source
// that reads these, and the default certificate of the options, reads all that is
// needed and nothing else. Whether the Ingress is served is not asked.
func Secrets(object *networkingv1.Ingress, o Options) []snapshot.Name {
	names := policy.References(object, o.AnnotationsPrefix, "Secret")
	namespace := policy.CertificateNamespace(object, o.AnnotationsPrefix)
	for _, item := range object.Spec.TLS {
		if name, err := snapshot.ParseName(namespace + "/" + item.SecretName); err == nil {
			names = append(names, name)
		}
	}
	return once(names)
}

// ConfigMaps are the ConfigMaps that Config looks at with these classes, whatever
// else there is, sorted, each once: the settings, the TCP and UDP services, and the
// settings of the classes that are ours.
func ConfigMaps(classes []*networkingv1.IngressClass, o Options) []snapshot.Name {
	names := slices.DeleteFunc([]snapshot.Name{o.ConfigMap, o.TCPServices, o.UDPServices}, func(name snapshot.Name) bool { return name == snapshot.Name{} })
	if o.ClassesUnreadable {
		classes = nil
	}
	for _, class := range classes {
		if name, _ := parametersOf(class); name != (snapshot.Name{}) && o.serves(class) {
			names = append(names, name)
		}
	}
	return once(names)
}

// Services are the Services that are referred to besides those that Ingresses
// refer to, sorted, each once: the default backend, and the TCP and UDP services.
// configMap gives a ConfigMap, or nil.
func Services(configMap func(snapshot.Name) *corev1.ConfigMap, o Options) []snapshot.Name {
	var names []snapshot.Name
	if o.DefaultBackend != (snapshot.Name{}) {
		names = append(names, o.DefaultBackend)
	}
	for _, list := range []snapshot.Name{o.TCPServices, o.UDPServices} {
		source := configMap(list)
		if source == nil {
			continue
		}
		for _, value := range source.Data {
			if name, err := serviceOf(value); err == nil {
				names = append(names, name)
			}
		}
	}
	return once(names)
}

// once sorts names and leaves out repetitions.
func once(names []snapshot.Name) []snapshot.Name {
	slices.SortFunc(names, snapshot.Name.Compare)
	return slices.Compact(names)
}
