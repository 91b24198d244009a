package controller

import (
	"context"
	"fmt"
	"slices"

	"sluice/internal/model"
	"sluice/internal/resolver"
)

// resolved tells nginx what names of DNS stand for now, and their owners if they
// lead where nobody may be led to.
func (c *Controller) resolved(ctx context.Context) {
	c.push(ctx)
	if c.latest != nil && !slices.Equal(c.misleading, c.Resolver.Misleading()) {
		c.syncSoon(ctx)
	}
}

// tellMisleading gives the Problems of the Services whose names have such answers.
func (c *Controller) tellMisleading(d model.Dynamic) []model.Problem {
	c.misleading = c.Resolver.Misleading()
	if len(c.misleading) == 0 {
		return nil
	}
	addresses := map[string]string{}
	for _, m := range c.misleading {
		addresses[m.Name] = m.Addresses
	}
	var problems []model.Problem
	for _, b := range d.Backends {
		if led, ok := addresses[b.ExternalName]; ok && b.ExternalName != "" {
			if b.Target.Host != "" {
				continue // of an annotation
			}
			problems = append(problems, model.Problem{Object: b.Target.Object(), Field: "spec.externalName", Reason: model.InvalidValue,
				Text: fmt.Sprintf("DNS says that %s is at %s: %s; requests never go there", b.ExternalName, led, resolver.WantedAddresses)})
		}
	}
	return problems
}
