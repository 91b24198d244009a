package annotations

import (
	"maps"
	"slices"

	"sluice/internal/settings"
)

// LayersProtectAs reports whether the texts that give annotations to Ingresses protect by all that
// those of other settings may be meant to protect by. prefix is without the slash.
func LayersProtectAs(s, other *settings.Settings, prefix string) bool {
	own, _ := layersOf(s, prefix).guards()
	wanted, isUnknown := layersOf(other, prefix).guards()
	if isUnknown || slices.ContainsFunc(settings.LayerKeys(), other.Broken) {
		return len(own) > 0
	}
	return !slices.ContainsFunc(wanted, func(name string) bool { return !slices.Contains(own, name) })
}

// guards returns the names of what protects or closes, and whether there may be more.
func (l *layered) guards() (names []string, isUnknown bool) {
	found := map[string]bool{}
	for _, name := range l.protects {
		found[name] = true
	}
	for _, values := range []map[string]inherited{l.defaults, l.fixed} {
		for key, v := range values {
			if doc := docOf[key]; (doc.Protects || doc.Closes) && !v.isOff(doc) {
				found[behaviourOf[key].Name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found)), l.denied && len(l.protects) == 0
}
