package assemble

import (
	"fmt"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// fallback adds a plain prefix "/" for requests that no path takes; every other prefix
// and pattern wins over it. As in ingress-nginx, it has the decorating annotations of
// the oldest owner, and passes to its spec.defaultBackend or else to the default
// backend.
func (b *builder) fallback() {
	if root := b.root(); root != nil {
		b.noFallbacks(root)
		return
	}
	if b.host.name == "" {
		b.catchAllFallback()
		return
	}
	if b.first() == nil {
		b.vacancy()
		return
	}
	first := b.first().Owner
	c := first.Fallback
	if c == nil {
		c = &claim.Claim{Owner: first, Annotations: first.Annotations, Path: "/", Action: claim.Action{Default: true}}
	}
	l := b.location(c, model.RuleFallback)
	b.complete(l, c, "/", nil)
	b.add(l, model.Prefix, "/")
	for _, rules := range b.host.rules[1:] {
		if later := rules.Owner.Fallback; later != nil && later.Owner != first {
			b.problem(later, "", model.Conflict, fmt.Sprintf("what no path of host %q matches belongs to %s, and %s", b.host.name, first.Ref, why(c, later)))
		}
	}
}

// noFallbacks records that a claim takes all requests that fallbacks are for.
func (b *builder) noFallbacks(root *claim.Claim) {
	for _, rules := range b.host.rules {
		if rules.Owner.Fallback != nil {
			b.unplaced(rules.Owner, rules.Owner.Fallback.Field, model.PathsFirst,
				fmt.Sprintf("a path of the host leaves nothing for it: %s %s of %s", root.PathType, root.Path, root.Owner.Ref))
		}
	}
}

// vacancy returns 503 for all requests of a vacant host. The location has no owner: no
// part of an Ingress that is not served is in nginx.conf.
func (b *builder) vacancy() {
	b.add(&model.Location{
		Rule:   model.Rule{Path: "/", Kind: model.RuleFallback},
		Return: &model.Return{Code: 503},
	}, model.Prefix, "/")
}

// root is the claim for requests that no other path takes, nil for none.
func (b *builder) root() *claim.Claim {
	if b.scope == wholeHost {
		return b.taken[match{modifier: model.Pattern, path: "^/"}]
	}
	return b.taken[match{modifier: model.PrefixFirst, path: "/"}]
}

// catchAllFallback passes to the first owner with a spec.defaultBackend and no rules,
// else to that of the first owner with a rule without a host. As in ingress-nginx, it
// does not rewrite or redirect. Without such an owner it has no decorating annotations.
func (b *builder) catchAllFallback() {
	claims := b.catchAllClaims()
	if len(claims) == 0 {
		l := &model.Location{Rule: model.Rule{Path: "/", Kind: model.RuleFallback}}
		b.passToDefault(l)
		b.errorPages(l, nil)
		b.add(l, model.Prefix, "/")
		return
	}
	winner := claims[0]
	l := b.decorated(winner, model.RuleFallback)
	if l.Return == nil {
		b.passOn(l, winner)
		b.errorPages(l, winner)
	}
	b.add(l, model.Prefix, "/")
	for _, c := range claims[1:] {
		reason := "one of an Ingress without rules comes first"
		if winner.Owner.Ruleless == c.Owner.Ruleless {
			reason = why(winner, c)
		}
		b.problem(c, "", model.Conflict, fmt.Sprintf("the requests that no rule matches go to the spec.defaultBackend of %s, and %s", winner.Owner.Ref, reason))
	}
}

// catchAllClaims are the spec.defaultBackend of owners without rules, then those of
// owners with a rule without a host, the oldest first.
func (b *builder) catchAllClaims() []*claim.Claim {
	var ruleless, others []*claim.Claim
	for _, rules := range b.host.rules {
		switch owner := rules.Owner; {
		case owner.Fallback == nil:
		case owner.Ruleless:
			ruleless = append(ruleless, owner.Fallback)
		default:
			others = append(others, owner.Fallback)
		}
	}
	return append(ruleless, others...)
}

// passToDefault passes to the default backend, or returns 404 without one.
func (b *builder) passToDefault(l *model.Location) {
	switch {
	case b.Settings.Denies():
		l.Return = &model.Return{Code: 503}
	case b.Options.DefaultBackend == (snapshot.Name{}):
		l.Return = &model.Return{Code: 404}
	default:
		l.Proxy = b.pass(BackendID{Service: b.Options.DefaultBackend, Port: DefaultPort}, nil)
	}
}

// idleDefaults reports each spec.defaultBackend that gets no requests, because paths
// take all of them on every host of the owner.
func (t *Assembly) idleDefaults(hosts []*host) {
	takers := map[*claim.Owner]*model.Location{}
	for _, h := range hosts {
		for _, rules := range h.rules {
			if rules.Owner.Fallback == nil {
				continue
			}
			taker := h.built.server.Taker()
			if first, seen := takers[rules.Owner]; !seen || first != nil && taker == nil {
				takers[rules.Owner] = taker
			}
		}
	}
	for owner, taker := range takers {
		if taker != nil {
			t.report(model.Problem{Object: owner.Ref, Field: owner.Fallback.Field, Reason: model.Shadowed,
				Text: fmt.Sprintf("no request is left for it: %s takes them all with %s", taker.Rule.Object, taker.Rule.Field)})
		}
	}
}
