package annotations

import (
	"slices"

	"sluice/internal/settings"
)

// perClass are the settings that can be said for the Ingresses of a class, sorted.
var perClass = perClassOf(behaviours)

func perClassOf(behaviours []*behaviour) []string {
	list := settings.PerClass()
	for _, b := range behaviours {
		for _, doc := range b.Keys {
			if doc.From != "" {
				list = append(list, doc.From)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// PerClass is true for a setting that can be said for the Ingresses of a class: one
// that an annotation has as its default, or that a location is made by.
func PerClass(key string) bool {
	_, found := slices.BinarySearch(perClass, key)
	return found
}
