package controller

import (
	"fmt"
	"slices"

	"sluice/internal/healthcheck"
	"sluice/internal/model"
)

// tellUnhealthy returns the Problems of Services whose endpoints all fail a health check.
func (c *Controller) tellUnhealthy(d model.Dynamic) []model.Problem {
	c.unhealthy = c.unhealthyOf(d)
	var problems []model.Problem
	for _, t := range c.unhealthy {
		problems = append(problems, model.Problem{Object: t.Of, Reason: model.Unhealthy,
			Text: fmt.Sprintf("all its endpoints fail the health check %s, so all of them get requests, as without the check; `kubectl sluice backends` shows the reasons", model.Quoted(t.Path))})
	}
	return problems
}

// unhealthyOf returns the health checks that all endpoints of a backend fail. The endpoints
// of a DNS name are those that were pushed last.
func (c *Controller) unhealthyOf(d model.Dynamic) []healthcheck.Trouble {
	if slices.ContainsFunc(d.Backends, func(b *model.Backend) bool { return b.ExternalName != "" }) {
		d.Backends = slices.Clone(d.Backends)
		for i, b := range d.Backends {
			if told := c.shown.told.Backend(b.Key); b.ExternalName != "" && told != nil {
				d.Backends[i] = told
			}
		}
	}
	return c.Prober.Troubles(d)
}
