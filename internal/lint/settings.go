package lint

import (
	"fmt"
	"strings"

	"sluice/internal/snapshot"
)

// conventional are the names of the settings' ConfigMap as the charts of
// ingress-nginx and Sluice make them, where those of other releases end so, and as
// it is called in the examples.
var conventional = []string{"ingress-nginx-controller", "sluice-controller", "sluice"}

// Conventional are the names by which the settings' ConfigMap is looked for, of any
// namespace.
func Conventional() []snapshot.Name {
	var names []snapshot.Name
	for _, name := range conventional {
		names = append(names, snapshot.Name{Name: name})
	}
	return names
}

// FindSettings finds the ConfigMap with the settings among manifests: the one that
// the --configmap of a Deployment or DaemonSet names, else the one with a name as the charts
// of ingress-nginx and Sluice give it. how says which it is and why, or what to do
// where there is none.
func FindSettings(m Manifests) (name snapshot.Name, how string) {
	there := map[snapshot.Name]bool{}
	var byName []snapshot.Name
	for _, o := range m.Objects.ConfigMaps {
		name := snapshot.Name{Namespace: o.Namespace, Name: o.Name}
		if !there[name] && isConventional(o.Name) {
			byName = append(byName, name)
		}
		there[name] = true
	}
	for _, note := range m.Notes {
		switch {
		case note.Settings == snapshot.Name{}:
		case there[note.Settings]:
			return note.Settings, fmt.Sprintf("settings: ConfigMap %s, which %s names", note.Settings, note.Object)
		default:
			return snapshot.Name{}, fmt.Sprintf("settings: ConfigMap %s, which %s names, is not among the manifests: all have their defaults", note.Settings, note.Object)
		}
	}
	switch len(byName) {
	case 0:
		return snapshot.Name{}, "settings: no ConfigMap found: all have their defaults; --configmap names it"
	case 1:
		return byName[0], fmt.Sprintf("settings: ConfigMap %s, by its name", byName[0])
	}
	return snapshot.Name{}, fmt.Sprintf("settings: %d ConfigMaps could have them, such as %s and %s: all have their defaults; --configmap names the right one", len(byName), byName[0], byName[1])
}

func isConventional(name string) bool {
	for _, usual := range conventional {
		if name == usual || strings.HasSuffix(usual, "-controller") && strings.HasSuffix(name, "-"+usual) {
			return true
		}
	}
	return false
}
