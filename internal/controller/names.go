package controller

import (
	"context"
	"fmt"
	"slices"
	"time"

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

// useNames makes the names of d those in use, and gives the function that fills in their
// addresses. Until the first question for a name has ended, its backend keeps the
// endpoints that nginx has.
func (c *Controller) useNames(d model.Dynamic) (fill func(model.Dynamic) model.Dynamic) {
	answers := c.Resolver.Use(d)
	unanswered, wait := c.Resolver.Unanswered()
	switch now := time.Now(); {
	case wait <= 0:
		c.namedBy = time.Time{}
	case c.namedBy.IsZero(), !c.held && now.After(c.namedBy):
		c.namedBy = now.Add(wait)
		time.AfterFunc(wait, c.applier.mayGoOn)
	}
	told := c.shown.told
	return func(d model.Dynamic) model.Dynamic {
		filled := resolver.Fill(d, answers)
		if len(unanswered) == 0 {
			return filled
		}
		for _, b := range filled.Backends {
			if !unanswered[b.ExternalName] {
				continue
			}
			if was := told.Backend(b.Key); was != nil {
				b.Endpoints = was.Endpoints // a copy that Fill made
			}
		}
		return filled
	}
}

// submitNamed submits the target that is held, unless it waits for new names.
func (c *Controller) submitNamed() {
	if c.held && c.target != nil && !time.Now().Before(c.namedBy) {
		c.held = false
		c.applier.submit(c.target)
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
