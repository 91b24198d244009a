package controller

import (
	"errors"

	networkingv1 "k8s.io/api/networking/v1"

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
	if len(o.settings) > 0 {
		return c.settings.refuse(o.plan, c.good.settings, o.settings)
	}
	if broken := c.settingsBroke(o); len(broken) > 0 {
		if c.settings.refuse(o.plan, c.good.settings, []refusedGroup{{text: messageOf(o.reason())}}) {
			c.settings.because = broken
			return true
		}
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

// settingsBroke gives the Ingresses that nginx refuses and took before, if the
// settings are others now: then it is the settings that are wrong.
func (c *Controller) settingsBroke(o outcome) []*networkingv1.Ingress {
	current := o.plan.configMap
	if current == nil || c.good.settings == nil || sameSettings(c.good.settings, current) {
		return nil
	}
	var broken []*networkingv1.Ingress
	for _, found := range o.culprits {
		name := nameOf(found.object)
		good, now := c.good.ingresses[name], o.plan.served.Ingress(name)
		if found.stream == "" && good != nil && now != nil && sameContent(good, now) {
			broken = append(broken, now)
		}
	}
	return broken
}

// refused reports whether nginx's test failed, with or without a culprit.
func (o outcome) refused() bool {
	var test *nginx.TestError
	return len(o.culprits) > 0 || len(o.settings) > 0 || errors.As(o.err, &test)
}

// reason gives nginx's words.
func (o outcome) reason() string {
	switch {
	case len(o.settings) > 0:
		return o.settings[0].text
	case len(o.culprits) > 0:
		return o.culprits[0].text
	}
	return o.err.Error()
}
