package lint

import (
	"fmt"
	"slices"
	"strings"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// Several is the reason for several objects that could each be the one to use, so
// that none is used.
const Several model.Reason = "Several"

// conventional are the names of the settings' ConfigMap in the charts of
// ingress-nginx and Sluice, also as the ending of other releases' names, and in the
// examples.
var conventional = []string{"ingress-nginx-controller", "sluice-controller", "sluice"}

// Conventional returns the names under which the settings' ConfigMap is looked for in
// any namespace.
func Conventional() []snapshot.Name {
	var names []snapshot.Name
	for _, name := range conventional {
		names = append(names, snapshot.Name{Name: name})
	}
	return names
}

// FindSettings finds the ConfigMap with the settings by its name if no flag names it.
// how describes the choice, or what to do if there is none or more than one; the
// latter is also a Problem.
func FindSettings(o snapshot.Objects) (name snapshot.Name, how string, problems []model.Problem) {
	var byName []snapshot.Name
	for _, o := range o.ConfigMaps {
		if isConventional(o.Name) {
			byName = append(byName, snapshot.Name{Namespace: o.Namespace, Name: o.Name})
		}
	}
	slices.SortFunc(byName, snapshot.Name.Compare)
	switch byName = slices.Compact(byName); len(byName) {
	case 0:
		return snapshot.Name{}, "settings: not known, as no ConfigMap is found: the defaults are assumed; --configmap names it", nil
	case 1:
		return byName[0], fmt.Sprintf("settings: ConfigMap %s, by its name", byName[0]), nil
	}
	text := fmt.Sprintf("%d ConfigMaps could have the settings, such as %s and %s: all have their defaults; --configmap names the right one", len(byName), byName[0], byName[1])
	ref := model.ObjectRef{Kind: "ConfigMap", Namespace: byName[0].Namespace, Name: byName[0].Name}
	return snapshot.Name{}, "settings: " + text, []model.Problem{{Object: ref, Reason: Several, Text: text}}
}

func isConventional(name string) bool {
	for _, usual := range conventional {
		if name == usual || strings.HasSuffix(usual, "-controller") && strings.HasSuffix(name, "-"+usual) {
			return true
		}
	}
	return false
}
