package translate

import (
	"maps"
	"slices"
	"strings"

	"sluice/internal/annotations"
	"sluice/internal/model"
)

// remarkIdle reports the annotations of a canary that have no effect: the Ingress whose
// paths it shares decides.
func (i *owner) remarkIdle() {
	for _, key := range slices.Sorted(maps.Keys(i.object.Annotations)) {
		name, ours := strings.CutPrefix(key, i.PrefixKey)
		said := slices.ContainsFunc(i.Problems, func(p model.Problem) bool { return p.Field == key })
		if ours && !said && annotations.IsRead(name) && name != "canary" && !strings.HasPrefix(name, "canary-") {
			i.report(key, model.NoEffect, "it has no effect on a canary: the Ingress whose paths it shares decides")
		}
	}
}
