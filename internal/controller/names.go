package controller

import (
	"context"
	"slices"
	"time"

	"sluice/internal/model"
	"sluice/internal/resolver"
	"sluice/internal/translate"
)

// either signals what one of two channels signals, until ctx ends.
func either(ctx context.Context, a, b <-chan struct{}) <-chan struct{} {
	both := make(chan struct{}, 1)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-a:
			case <-b:
			}
			select {
			case both <- struct{}{}:
			default: // a signal waits
			}
		}
	}()
	return both
}

// forward signals endpointsChanged until ctx ends.
func (c *Controller) forward(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.Resolver.Watch():
		case <-c.Prober.Watch():
		case <-c.Stapler.Watch():
		}
		select {
		case c.endpointsChanged <- struct{}{}:
		default:
		}
	}
}

// resolved pushes the new addresses of DNS names, the healthy endpoints, and OCSP responses.
// It syncs if the names without addresses, or with forbidden addresses, changed, the Services
// without a healthy endpoint, or the certificates without a response, because their owners
// get Problems.
func (c *Controller) resolved(ctx context.Context) {
	c.push(ctx)
	if c.latest == nil {
		return
	}
	if !slices.Equal(c.unresolved, c.Resolver.Troubles()) || !slices.Equal(c.unhealthy, c.unhealthyOf(c.latest.config.Dynamic)) ||
		!slices.Equal(c.unstapled, c.Stapler.Troubles()) {
		c.syncSoon(ctx)
	}
}

// useNames tells the resolver which names are in use, and returns a function that fills
// in their addresses. Until a name was first resolved, its backend keeps its pushed
// endpoints.
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
				b.Endpoints = was.Endpoints // b is a copy made by Fill
			}
		}
		return filled
	}
}

// use tells the resolver, the prober and the stapler what is in use, and returns a function
// that fills in the addresses of names, takes away the endpoints that fail their health
// checks, and adds OCSP responses. Whatever is sent to nginx comes from it.
func (c *Controller) use(d model.Dynamic) (fill func(model.Dynamic) model.Dynamic) {
	named := c.useNames(d)
	c.Prober.Use(named(d))
	c.Stapler.Use(d)
	return func(d model.Dynamic) model.Dynamic { return c.Stapler.Apply(c.Prober.Apply(named(d))) }
}

// submitNamed submits the held target, unless it still waits for new names.
func (c *Controller) submitNamed() {
	if c.held && c.target != nil && !time.Now().Before(c.namedBy) {
		c.held = false
		c.applier.submit(c.target)
	}
}

// tellUnresolved returns the Problems of DNS names, for the Service with that
// externalName, and for the Ingresses whose annotations name it.
func (c *Controller) tellUnresolved(config *model.Config) []model.Problem {
	c.unresolved = c.Resolver.Troubles()
	if len(c.unresolved) == 0 {
		return nil
	}
	troubles := map[string]resolver.Trouble{}
	for _, t := range c.unresolved {
		troubles[t.Name] = t
	}
	var problems []model.Problem
	for _, b := range config.Dynamic.Backends {
		if t, found := troubles[b.ExternalName]; found && b.ExternalName != "" && b.Target.Host == "" {
			problems = append(problems, unresolved(t, b.Target.Object(), "spec.externalName", "503 is answered"))
		}
	}
	for s := range translate.Subrequests(config) {
		if t, found := troubles[s.Backend.ExternalName]; found && s.Backend.ExternalName != "" {
			for _, asker := range s.Askers {
				problems = append(problems, unresolved(t, asker.Object, asker.Field, s.Failure))
			}
		}
	}
	return model.SortProblems(problems)
}

func unresolved(t resolver.Trouble, object model.ObjectRef, field, failure string) model.Problem {
	if t.Refused {
		return model.Problem{Object: object, Field: field, Reason: model.InvalidValue, Text: t.Text + "; requests never go there"}
	}
	return model.Problem{Object: object, Field: field, Reason: model.NotFound, Text: t.Text + ": " + failure}
}
