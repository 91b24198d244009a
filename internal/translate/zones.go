package translate

import (
	"fmt"

	"sluice/internal/model"
)

// mostZones is the maximum number of zones of limits of a namespace. Each takes a
// megabyte.
const mostZones = 1000

// remarkReplicas reports limits that cannot be divided because the number of replicas is
// not known.
func (t *translation) remarkReplicas() {
	const key = "limit-divide-by-replicas"
	if !t.settings.Limits.Divided || t.options.Replicas != 0 {
		return
	}
	object, _ := t.settings.Origin(key)
	text := "it has no effect without a cluster, where no replicas are counted: each replica allows the whole limit"
	if !t.options.ManifestMode {
		text = "it has no effect without the flag --publish-service, with the Service of this controller in a watched namespace, whose ready endpoints are counted: each replica allows the whole limit"
	}
	t.report(model.Problem{Object: object, Field: key, Reason: model.NoEffect, Text: text})
}

// withinZones counts the zones of an Ingress's limits. Beyond the maximum of the
// namespace, it returns the Ingress with all paths closed, because they would be open
// without their limits. The oldest Ingresses count first.
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
	return t.closedBy(ing, ing.denial("*", model.NoRoom, fmt.Sprintf("want fewer limits: the Ingresses of namespace %s may have %d zones in all, one for each limit of an Ingress or path, and the oldest Ingresses count first", namespace, mostZones)))
}
