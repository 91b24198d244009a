package translate

import (
	"fmt"

	"sluice/internal/claim"
	"sluice/internal/model"
)

// mostZones is how many zones of limits a namespace may have, of a megabyte each.
const mostZones = 1000

// withinZones counts the zones that an Ingress needs for its limits. If its namespace
// has too many already, it gives the Ingress with all paths closed, as they would be
// open without their limits; the oldest count.
func (t *translation) withinZones(ing *owner) *owner {
	zones := ing.Annotations.Zones()
	if zones == 0 {
		return ing
	}
	namespace := ing.Ref.Namespace
	if t.zones[namespace]+zones <= mostZones {
		t.zones[namespace] += zones
		return ing
	}
	if ing.zoneless == nil {
		ing.zoneless = t.read(ing.object, ing.Settings, max(ing.Denial, claim.DenyPaths))
		ing.zoneless.deny("*", model.NoRoom, fmt.Sprintf("want fewer limits: the Ingresses of namespace %s may have %d zones in all, which are one for each limit of an Ingress or of a path, and the oldest count", namespace, mostZones))
	}
	return ing.zoneless
}
