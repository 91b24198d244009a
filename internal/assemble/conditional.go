package assemble

import (
	"cmp"
	"fmt"
	"strings"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/pcre"
	"sluice/internal/route"
)

// conditional is a claim with a match: it takes only some requests of its path.
type conditional struct {
	*claim.Claim
	at         match
	conditions []model.Condition
	location   *model.Location
}

// mostConditional limits the conditional claims of a namespace on a host, because each
// of their paths lists those of all shorter paths.
const mostConditional = 200

// claimConditional takes a conditional claim with its decoded path. dispatch adds its
// location when all less specific ones are known.
func (b *builder) claimConditional(c *claim.Claim, path string) {
	if reason, text := b.refusal(c); text != "" {
		b.unserved(c, "", reason, text)
		return
	}
	at := matchFor(c, path)
	if b.appRootOwner != nil && at == (match{modifier: model.Equal, path: "/"}) {
		b.shadowedByAppRoot(c)
		return
	}
	conditions, fault := route.Conditions(*c.Match)
	if fault != nil {
		b.refuse(c, "."+fault.Field, model.InvalidValue, fmt.Sprintf("want %s (got %s): the rule is left out", fault.Want, model.Quoted(fault.Got)))
		if !c.Guards() {
			return
		}
		shut := *c
		shut.Closed, c = true, &shut
		conditions = checkable(*c.Match)
	}
	// A closed claim does not compete.
	if !c.Closed && !b.take(c, match{at.modifier, at.path, sameness(conditions)}) {
		return
	}
	l := b.location(c, model.RuleWritten)
	b.complete(l, c, pcre.Quote(path), nil)
	b.conditionals = append(b.conditionals, &conditional{c, at, conditions, l})
}

// sameness returns a text that equal conditions share, whatever steps they may take.
func sameness(conditions []model.Condition) string {
	var text strings.Builder
	for _, c := range conditions {
		fmt.Fprintf(&text, "%s %q %q\n", c.Of, c.Name, c.Pattern)
	}
	return text.String()
}

// refusal returns the reason why the host takes no conditional claim, or no more of
// them.
func (b *builder) refusal(c *claim.Claim) (reason model.Reason, text string) {
	if b.scope != literal {
		return model.Unsupported, fmt.Sprintf("want a host without patterns for a rule that asks for a method, headers or query parameters: paths of %s are patterns", hostWords(b.host.name))
	}
	others := 0
	for _, o := range b.conditionals {
		if o.Owner.Ref.Namespace == c.Owner.Ref.Namespace {
			others++
		}
	}
	if others >= mostConditional {
		return model.NoRoom, fmt.Sprintf("want at most %d rules of a namespace that ask for a method, headers or query parameters on %s: this rule is left out, because the oldest ones count", mostConditional, hostWords(b.host.name))
	}
	return "", ""
}

// checkable returns the valid conditions of an invalid match. A claim that protects
// closes all requests that they select.
func checkable(m model.Match) []model.Condition {
	parts := []model.Match{{Method: m.Method}}
	for _, h := range m.Headers {
		parts = append(parts, model.Match{Headers: []model.ValueMatch{h}})
	}
	for _, q := range m.Query {
		parts = append(parts, model.Match{Query: []model.ValueMatch{q}})
	}
	var all []model.Condition
	for _, part := range parts {
		if conditions, fault := route.Conditions(part); fault == nil {
			all = append(all, conditions...)
		}
	}
	return all
}

// compare orders the claims of one path as the Gateway API does: a method first, then
// more headers, more parameters, and the older owner.
// Source: https://gateway-api.sigs.k8s.io/reference/spec/#httprouterule
func (c *conditional) compare(o *conditional) int {
	method := func(c *conditional) int { return min(1, len(c.Match.Method)) }
	return cmp.Or(
		cmp.Compare(method(o), method(c)),
		cmp.Compare(len(o.Match.Headers), len(c.Match.Headers)),
		cmp.Compare(len(o.Match.Query), len(c.Match.Query)),
		c.Owner.Age.Compare(o.Owner.Age),
	)
}
