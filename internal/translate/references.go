package translate

import (
	"slices"

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
// else there is, sorted, each once: the settings, and those of the classes that are
// ours.
func ConfigMaps(classes []*networkingv1.IngressClass, o Options) []snapshot.Name {
	var names []snapshot.Name
	if o.ConfigMap != (snapshot.Name{}) {
		names = append(names, o.ConfigMap)
	}
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

// once sorts names and leaves out repetitions.
func once(names []snapshot.Name) []snapshot.Name {
	slices.SortFunc(names, snapshot.Name.Compare)
	return slices.Compact(names)
}
