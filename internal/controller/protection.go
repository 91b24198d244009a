package controller

import (
	"slices"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/policy"
	"sluice/internal/settings"
)

// addsProtection reports whether the refused form of an Ingress protects its
// paths with something that its last good form lacks or says differently. To
// take a protection away, or to leave all as they were, adds none.
func (c *Controller) addsProtection(refused, good *networkingv1.Ingress) bool {
	if good == nil {
		return c.protects(refused)
	}
	values, _ := settings.Read(nil)
	prefix := c.Translate.AnnotationsPrefix
	had := policy.Read(good, values, prefix).Protects()
	for _, name := range policy.Read(refused, values, prefix).Protects() {
		if !slices.Contains(had, name) {
			return true
		}
	}
	for _, key := range protectingKeys(prefix) {
		if value, ok := refused.Annotations[key]; ok && value != good.Annotations[key] {
			return true
		}
	}
	return false
}

// protects reports whether something protects the paths of an Ingress, be it its
// annotations or the settings.
func (c *Controller) protects(ing *networkingv1.Ingress) bool {
	policies := policy.Read(ing, c.settingsOf()(ing), c.Translate.AnnotationsPrefix)
	return policies.Denied() || len(policies.Protects()) > 0 || c.unsettled()
}

// unsettled reports whether the ConfigMap is missing that is required.
func (c *Controller) unsettled() bool {
	return c.Translate.RequireConfigMap && c.settings.last == nil
}

// protectingKeys are the annotations of all behaviours that protect.
func protectingKeys(prefix string) []string {
	var keys []string
	for _, behaviour := range policy.All() {
		if !behaviour.Protects {
			continue
		}
		for _, doc := range behaviour.Keys {
			for _, name := range append([]string{doc.Key}, doc.Aliases...) {
				keys = append(keys, prefix+"/"+name)
			}
		}
	}
	return keys
}
