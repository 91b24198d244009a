package assemble

import (
	"fmt"
	"slices"

	"sluice/internal/claim"
	"sluice/internal/guard"
	"sluice/internal/model"
	"sluice/internal/pcre"
)

// hold lets package guard check the locations of the host, which does not know how they
// were made. Each request that it finds open gets 503: hold closes the beginning of the
// claim and, if that is not enough, the location that would serve the request.
func (b *builder) hold() {
	if !slices.ContainsFunc(b.host.rules, func(r *claim.Rules) bool { return r.Owner.Guards() }) {
		return
	}
	asked, claims := b.asked()
	for round := range 3 {
		open := guard.Check(asked, b.locations, b.internals.found)
		for _, o := range open {
			c := claims[slices.IndexFunc(asked.Claims, func(a guard.Claim) bool {
				return a.Owner == o.Claim.Owner && a.Field == o.Claim.Field && a.Path == o.Claim.Path
			})]
			if round == 0 {
				b.mistake(c, o)
				b.shut(c)
			} else {
				b.put(c, o.Reached.Modifier, o.Reached.Path)
			}
		}
		if len(open) == 0 {
			return
		}
		b.sort()
	}
}

// mistake reports an open request. It is a fault of Sluice, not of the owner.
func (b *builder) mistake(c *claim.Claim, o guard.Open) {
	b.tell(model.Problem{Object: c.Owner.Ref, Field: c.Field + ".path", Reason: model.Refused, Denies: true,
		Text: fmt.Sprintf("%s would serve the request %s without its protection; this is a fault of Sluice: please report it", o.Taker.Rule.Object, claim.Shown(o.Path))})
}

// asked returns the claims of the host in guard's form, and the claims in the same
// order.
func (b *builder) asked() (asked guard.Asked, claims []*claim.Claim) {
	asked.Turned = b.scope == wholeHost
	for _, rules := range b.host.rules {
		for i := range rules.Claims {
			c := &rules.Claims[i]
			if b.leftOut[c] {
				continue
			}
			claims = append(claims, c)
			placed := guard.Claim{
				Owner: c.Owner.Ref, Field: c.Field, Path: c.Path, PathType: string(c.PathType), Pattern: b.asking[rules], Own: asksItself(c),
				Redirect: c.Action.Redirect != nil,
				Protects: c.Guards() && c.Action.Redirect == nil, Denied: c.IsDenied(), Blocks: c.ProtectingBlocks(), Protections: c.Annotations.Protections(),
				BackendName: c.Annotations.Transport.VerifiedName(),
			}
			if c.Match != nil {
				placed.Match = *c.Match
			}
			asked.Claims = append(asked.Claims, placed)
		}
	}
	return asked, claims
}

// shut closes the literal beginning of a claim.
func (b *builder) shut(c *claim.Claim) {
	b.rules = b.rulesOf(c.Owner.Ref)
	if !b.isPattern(c) {
		for _, path := range meanings(c.Path) {
			b.put(c, model.PrefixFirst, plainStart(path))
		}
		return
	}
	for _, start := range b.beginningsOf(c) {
		b.put(c, model.Pattern, "^"+pcre.Quote(start))
	}
}

// put closes a match for a claim and replaces the location that has it. A pattern comes
// before the others of its text.
func (b *builder) put(c *claim.Claim, modifier model.Modifier, path string) {
	closed := *c
	closed.Closed = true
	l := b.location(&closed, model.RuleClosed)
	same := func(other *model.Location) bool {
		prefixes := modifier != model.Equal && modifier != model.Pattern && other.Modifier != model.Equal && other.Modifier != model.Pattern
		return other.Path == path && (other.Modifier == modifier || prefixes)
	}
	b.locations = slices.DeleteFunc(b.locations, same)
	l.Modifier, l.Path = modifier, path
	b.locations = slices.Insert(b.locations, 0, l)
}
