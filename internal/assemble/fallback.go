package assemble

import (
	"fmt"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// fallback adds what answers where no path of the host does: a plain prefix
// "/", which stands below every other prefix and every pattern. It has what
// decorates the host's oldest Ingress, as with ingress-nginx, and goes to its
// spec.defaultBackend or else to the default backend.
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
		c = &claim.Claim{Owner: first, Annotations: first.Annotations, Path: "/"}
	}
	l := b.location(c, model.RuleFallback)
	b.rewrite(l, c, "/", nil)
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

// vacancy answers 503 to all that is asked of a vacant host. The location is nobody's:
// no part of the Ingress that is not served is in nginx.conf.
func (b *builder) vacancy() {
	b.add(&model.Location{
		Rule:   model.Rule{Path: "/", Kind: model.RuleFallback},
		Return: &model.Return{Code: 503},
	}, model.Prefix, "/")
}

// root is the claim that takes all that no other path takes, or nil.
func (b *builder) root() *claim.Claim {
	if b.scope == wholeHost {
		return b.taken[match{modifier: model.Pattern, path: "^/"}]
	}
	return b.taken[match{modifier: model.PrefixFirst, path: "/"}]
}

// catchAllFallback goes to the first Ingress that has a spec.defaultBackend and
// no rules, else to that of the first Ingress with a rule without a host. As
// with ingress-nginx it has neither rewrite nor redirect, and where no Ingress
// has it nothing decorates it.
func (b *builder) catchAllFallback() {
	claims := b.catchAllClaims()
	if len(claims) == 0 {
		l := &model.Location{Rule: model.Rule{Path: "/", Kind: model.RuleFallback}}
		b.passToDefault(l)
		b.add(l, model.Prefix, "/")
		return
	}
	winner := claims[0]
	l := b.decorated(winner, model.RuleFallback)
	if l.Return == nil {
		b.passOn(l, winner)
	}
	b.add(l, model.Prefix, "/")
	for _, c := range claims[1:] {
		b.problem(c, "", model.Conflict, fmt.Sprintf("the requests that no rule matches go to the spec.defaultBackend of %s, and %s", winner.Owner.Ref, why(winner, c)))
	}
}

// catchAllClaims are the spec.defaultBackend of the Ingresses without rules, and
// then of those with a rule without a host, the oldest first.
func (b *builder) catchAllClaims() []*claim.Claim {
	var ruleless, others []*claim.Claim
	for _, rules := range b.host.rules {
		switch ing := rules.Owner; {
		case ing.Fallback == nil:
		case ing.Ruleless:
			ruleless = append(ruleless, ing.Fallback)
		default:
			others = append(others, ing.Fallback)
		}
	}
	return append(ruleless, others...)
}

// passToDefault passes to the default backend, or answers 404 without one.
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

// idleDefaults tells Ingresses that no request is left for their
// spec.defaultBackend, as paths take all on each of its hosts.
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
	for ing, taker := range takers {
		if taker != nil {
			t.report(model.Problem{Object: ing.Ref, Field: ing.Fallback.Field, Reason: model.Shadowed,
				Text: fmt.Sprintf("no request is left for it: %s takes them all with %s", taker.Rule.Object, taker.Rule.Field)})
		}
	}
}
