package controller

import (
	"errors"
	"slices"

	"sluice/internal/nginx"
)

// refuse does something about what nginx refused, and reports whether it did:
// new templates are given up, changed settings are rolled back, changed Ingresses
// go to quarantine, and TCP and UDP services are left out. What ran before goes on meanwhile.
func (c *Controller) refuse(o outcome) bool {
	if c.templates != nil && o.plan.templates != c.templates {
		c.Templates.Reject(o.plan.templates, c.templates, o.reason())
		return true
	}
	if o.settings != "" || c.settingsBroke(o) {
		return c.settings.refuse(o.plan.configMap, c.good.settings, oneLine(o.reason()))
	}
	changed := false
	for _, culprit := range o.culprits {
		if culprit.stream != "" {
			changed = c.streams.refuse(o.plan, culprit) || changed
		} else if c.quarantine.add(o.plan, culprit, c.good.ingresses[nameOf(culprit.object)]) {
			changed = true
		}
	}
	return changed
}

// settingsBroke reports whether nginx refuses an Ingress that it took before,
// now that the settings are others: then it is the settings that are wrong.
func (c *Controller) settingsBroke(o outcome) bool {
	current := o.plan.configMap
	if current == nil || c.good.settings == nil || sameSettings(c.good.settings, current) {
		return false
	}
	return slices.ContainsFunc(o.culprits, func(found culprit) bool {
		if found.stream != "" {
			return false
		}
		name := nameOf(found.object)
		good, now := c.good.ingresses[name], ingressOf(o.plan.served, name)
		return good != nil && now != nil && sameContent(good, now)
	})
}

// refused reports whether nginx's test failed, with or without a culprit.
func (o outcome) refused() bool {
	var test *nginx.TestError
	return len(o.culprits) > 0 || o.settings != "" || errors.As(o.err, &test)
}

// reason gives nginx's words.
func (o outcome) reason() string {
	switch {
	case o.settings != "":
		return o.settings
	case len(o.culprits) > 0:
		return o.culprits[0].text
	}
	return o.err.Error()
}
