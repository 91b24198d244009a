package annotations

import (
	"slices"

	"sluice/internal/settings"
)

// perClass are the settings that a class can set, sorted.
var perClass = perClassOf(behaviours)

func perClassOf(behaviours []*behaviour) []string {
	list := settings.PerClass()
	for _, doc := range docsOf(behaviours) {
		if doc.From != "" {
			list = append(list, doc.From)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// PerClass reports whether a class can set a setting: it is the default of an annotation,
// or one of settings.PerClass.
func PerClass(key string) bool {
	_, found := slices.BinarySearch(perClass, key)
	return found
}
