package translate

import (
	"slices"

	"sluice/internal/annotations"
	"sluice/internal/claim"
	"sluice/internal/model"
)

// readRedirects adds the claims of the annotation redirects to each host, before those of
// the paths. They take the same part of the requests as the Ingress itself.
func (i *owner) readRedirects() {
	lines := i.Annotations.Redirects.Lines
	if len(lines) == 0 {
		return
	}
	field := annotations.FieldOf(i.PrefixKey, "redirects")
	var hosts []string
	for _, rules := range i.Hosts {
		hosts = append(hosts, rules.Host)
	}
	switch from := lines.Loop(hosts); {
	case from != "":
		i.report(field, model.InvalidValue, "want redirects that end (got "+model.Quoted(from)+", which leads back to itself on a host of the Ingress): nothing is redirected")
		return
	case i.Annotations.Canary.Enabled:
		i.report(field, model.NoEffect, "it has no effect on a canary: the Ingress whose paths it shares decides")
		return
	case len(hosts) == 0:
		i.report(field, model.NoEffect, "it has no effect without a rule, whose host it is for")
		return
	}
	for _, rules := range i.Hosts {
		paths := rules.Claims
		rules.Claims = nil
		for at := range lines {
			c := claim.Claim{Owner: i.Owner, Field: field, Action: claim.Action{Redirect: &lines[at]}}
			c.Path, c.PathType = claim.RedirectPath(c.Action.Redirect)
			i.addClaim(rules, c)
		}
		rules.Claims = slices.Concat(rules.Claims, paths)
	}
}

// readMatch sets the match of a claim by its annotations. It returns false for a canary,
// which cannot have one: it must not get other requests instead.
func (i *owner) readMatch(c *claim.Claim) bool {
	asked := c.Annotations.Match
	if c.Match != nil || len(asked.Headers)+len(asked.Query) == 0 {
		return true
	}
	if i.Annotations.Canary.Enabled {
		key := "match-headers"
		if len(asked.Headers) == 0 {
			key = "match-query"
		}
		i.report(i.field(key), model.Unsupported, "want no canary beside it: the canary gets no requests")
		return false
	}
	c.Match = &model.Match{Headers: asked.Headers, Query: asked.Query}
	return true
}
