package policy

import (
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/snapshot"
)

// References are the objects of a kind that the annotations of an Ingress name,
// by whichever keys have references to that kind as their values, in the order of
// All. What names no object is left out; Read tells what is wrong with it. There
// may be more than package translate looks at, and never fewer.
func References(ing *networkingv1.Ingress, prefix, kind string) []snapshot.Name {
	var names []snapshot.Name
	for _, key := range referring[kind] {
		text, written := ing.Annotations[prefix+"/"+key]
		if !written {
			continue
		}
		if name, err := snapshot.ParseReference(strings.TrimSpace(text), ing.Namespace); err == nil {
			names = append(names, name)
		}
	}
	return names
}

// referring are the keys, aliases included, whose values name an object, by its
// kind.
var referring = referringIn(all)

func referringIn(behaviours []behaviour) map[string][]string {
	referring := map[string][]string{}
	for _, b := range behaviours {
		for _, doc := range b.Keys {
			if doc.Refers != "" {
				referring[doc.Refers] = append(append(referring[doc.Refers], doc.Key), doc.Aliases...)
			}
		}
	}
	return referring
}
