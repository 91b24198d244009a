package controller

import (
	"context"
	"slices"

	"sluice/internal/model"
	"sluice/internal/resolver"
	"sluice/internal/translate"
)

// resolved tells nginx the new addresses of DNS names, and tells the owners of names
// without addresses, or with addresses that are refused.
func (c *Controller) resolved(ctx context.Context) {
	c.push(ctx)
	if c.latest != nil && !slices.Equal(c.unresolved, c.Resolver.Troubles()) {
		c.syncSoon(ctx)
	}
}

// tellUnresolved gives the Problems of DNS names: on the Service whose externalName one
// is, and on the Ingresses with an annotation that names it.
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
			for _, owner := range s.Owners {
				problems = append(problems, unresolved(t, owner, c.Translate.AnnotationsPrefix+"/"+s.Annotation, s.Failure))
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
