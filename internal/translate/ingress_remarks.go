package translate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice/internal/annotations"
	"sluice/internal/assemble"
	"sluice/internal/claim"
	"sluice/internal/model"
)

// remarkIdle reports the parts of a canary that have no effect. The Ingress whose paths
// it shares decides for most annotations.
func (i *owner) remarkIdle() {
	if i.Fallback != nil && !i.Ruleless {
		i.report(claim.DefaultBackendField, model.NoEffect, "it has no effect on a canary with rules: only its paths get requests")
	}
	for _, key := range slices.Sorted(maps.Keys(i.object.Annotations)) {
		name, ours := strings.CutPrefix(key, i.PrefixKey)
		reported := slices.ContainsFunc(i.Problems, func(p model.Problem) bool { return p.Field == key })
		switch {
		case !ours || reported || !annotations.IsRead(name) || name == "canary" || strings.HasPrefix(name, "canary-") || slices.Contains(ofCanaries, name):
		case i.Annotations.OfProtection(name):
			i.report(key, model.NoEffect, fmt.Sprintf("it does not protect a canary: an Ingress whose path it shares must have the same value (got %s), or the canary gets no requests of that path", model.Quoted(i.object.Annotations[key])))
		default:
			i.report(key, model.NoEffect, "it has no effect on a canary: the Ingress whose paths it shares decides")
		}
	}
}

// ofCanaries are annotations of a canary for its own backend.
var ofCanaries = []string{"affinity-canary-behavior", "load-balance", "service-upstream", "upstream-hash-by", "upstream-hash-by-subset", "upstream-hash-by-subset-size"}

// remarkBalancing reports ways to choose endpoints that another one overrides.
func (i *owner) remarkBalancing(a *annotations.Annotations) {
	for _, key := range []string{"upstream-hash-by", "load-balance"} {
		switch field := a.Field(i.PrefixKey, key); {
		case i.given[field] == "" || key == "load-balance" && a.LoadBalance.Work() == "":
		case a.Affinity.Type != "" && !a.Canary.Enabled:
			i.remarkOverridden(a, key, "affinity")
		case key != "upstream-hash-by" && a.Hash.By != "":
			i.remarkOverridden(a, key, "upstream-hash-by")
		}
	}
	if a.SlowStart.Seconds > 0 && a.Hash.By != "" && a.Affinity.Type == "" {
		i.remarkOverridden(a, "slow-start", "upstream-hash-by")
	}
}

// remarkOverridden reports an annotation that another one overrides. One of the Ingress
// that only single paths override has its effect at the others.
func (i *owner) remarkOverridden(a *annotations.Annotations, key, by string) {
	field, over := a.Field(i.PrefixKey, key), a.Field(i.PrefixKey, by)
	if field == annotations.FieldOf(i.PrefixKey, key) && over != annotations.FieldOf(i.PrefixKey, by) {
		return
	}
	i.report(field, model.NoEffect, "it has no effect beside "+over)
}

// remarkSatisfy reports a satisfy: any at paths with one protection, where it says the same
// as all. One of the Ingress has its effect if it has one at any path.
func (i *owner) remarkSatisfy(a *annotations.Annotations) {
	field := a.Field(i.PrefixKey, "satisfy")
	ofAll := field == annotations.FieldOf(i.PrefixKey, "satisfy")
	if a.Satisfy.Mode != "any" || ofAll && a != i.Annotations {
		return
	}
	for each := range i.Annotations.Each() {
		if (each == a || ofAll) && (each.Denied() || each.Satisfy.Mode == "any" && alternatives(each) > 1) {
			return
		}
	}
	i.report(field, model.NoEffect, "it has no effect without two of a list of addresses, basic authentication and external authentication, of which a request passes one")
}

// alternatives counts the protections of which satisfy: any needs one.
func alternatives(a *annotations.Annotations) int {
	count := 0
	for _, on := range []bool{len(a.AllowList.Networks)+len(a.DenyList.Networks) > 0, a.BasicAuth.On(), a.ExternalAuth.URL != ""} {
		if on {
			count++
		}
	}
	return count
}

// remarkEnabled reports an enable-global-auth where the settings name no server.
func (i *owner) remarkEnabled(a *annotations.Annotations) {
	const key = "enable-global-auth"
	field := a.Field(i.PrefixKey, key)
	if url, _ := i.Settings.Value(globalAuthURL); i.given[field] == "" || url != "" || i.Settings.Broken(globalAuthURL) {
		return
	}
	if field == annotations.FieldOf(i.PrefixKey, key) && a != i.Annotations {
		return
	}
	i.report(field, model.NoEffect, "it has no effect, as the settings have no "+globalAuthURL)
}

// passes reports whether an Ingress asks for TLS passthrough, and the controller offers
// it.
func (t *translation) passes(p *annotations.Passthrough, ing *owner) bool {
	if p.Enabled && !t.options.Passthrough {
		ing.report(ing.PrefixKey+assemble.PassthroughKey, model.Unsupported, "it has no effect, as the controller runs without --enable-ssl-passthrough: the TLS of its hosts ends here")
		return false
	}
	return p.Enabled
}

// remarkRedirect reports a redirect that another one overrides.
func (i *owner) remarkRedirect(asked *annotations.Redirect) {
	if asked.Temporal != "" && asked.Permanent != "" {
		i.report(i.PrefixKey+"permanent-redirect", model.Ambiguous, "it has no effect beside "+i.PrefixKey+"temporal-redirect")
	}
}
