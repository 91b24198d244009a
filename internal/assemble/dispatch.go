package assemble

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
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
	if !c.Closed && !b.take(c, match{at.modifier, at.path, fmt.Sprintf("%q", conditions)}) {
		return
	}
	l := b.location(c, model.RuleWritten)
	b.complete(l, c, pcre.Quote(path), nil)
	b.conditionals = append(b.conditionals, &conditional{c, at, conditions, l})
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

// dispatcher finds the claims that could take a request of a path.
type dispatcher struct {
	conditionals map[match][]*conditional
	// plain are the locations for all requests of their paths. A prefix is always
	// stored under PrefixFirst.
	plain map[match]*model.Location
}

// dispatch replaces the locations of paths with conditional claims. The new ones pass
// each request to the first claim whose conditions hold: of the path itself, then of
// less specific paths.
func (b *builder) dispatch() {
	if len(b.conditionals) == 0 {
		return
	}
	slices.SortStableFunc(b.conditionals, (*conditional).compare)
	d := dispatcher{map[match][]*conditional{}, map[match]*model.Location{}}
	for _, l := range b.locations {
		d.plain[matchOf(l)] = l
	}
	dispatched := map[match]bool{}
	for _, c := range b.conditionals {
		d.conditionals[c.at] = append(d.conditionals[c.at], c)
		dispatched[c.at] = true
		if stem := strings.TrimSuffix(c.at.path, "/"); c.at.modifier == model.PrefixFirst && stem != "" {
			dispatched[match{modifier: model.Equal, path: stem}] = true
		}
	}
	added := map[match]*model.Location{}
	for at := range dispatched {
		if l := b.dispatchAt(at, d); l != nil {
			added[at] = l
		}
	}
	b.locations = slices.DeleteFunc(b.locations, func(l *model.Location) bool { return added[matchOf(l)] != nil })
	b.locations = slices.AppendSeq(b.locations, maps.Values(added))
	b.sort()
}

func matchOf(l *model.Location) match {
	if l.Modifier == model.Prefix {
		return match{modifier: model.PrefixFirst, path: l.Path}
	}
	return match{modifier: l.Modifier, path: l.Path}
}

// dispatchAt makes the location of a match, nil if nothing depends on conditions there.
func (b *builder) dispatchAt(at match, d dispatcher) *model.Location {
	candidates, last := d.candidates(at)
	if len(candidates) == 0 {
		return nil
	}
	l := &model.Location{Modifier: at.modifier, Path: at.path, Rule: candidates[0].location.Rule}
	l.Rule.Kind = model.RuleDispatch
	for _, c := range candidates {
		l.Rule.Protects = l.Rule.Protects || c.location.Rule.Protects
		l.Dispatch = append(l.Dispatch, model.Candidate{Match: *c.Match, Conditions: c.conditions, To: b.target(c.location)})
		if len(c.conditions) == 0 {
			return l // it takes all other requests
		}
	}
	l.Rule.Protects = l.Rule.Protects || last.Rule.Protects
	l.Dispatch = append(l.Dispatch, model.Candidate{To: b.target(last)})
	return l
}

// target adds an internal location that does the same as a location, and returns its
// name. The access log names the rule, so rules do not share one.
func (b *builder) target(l *model.Location) string {
	return b.internals.add(model.Named, "route-"+hashOf(model.Location{Rule: l.Rule}), "", l)
}

// candidates returns the conditional claims for a match, the most specific first, and
// the location for all other requests.
func (d *dispatcher) candidates(at match) (all []*conditional, last *model.Location) {
	prefix := at.path
	if at.modifier == model.Equal {
		all = append(all, d.conditionals[at]...)
		own := d.plain[at]
		if own != nil && own.Rule.PathType != string(claim.Prefix) && own.Rule.PathType != string(claim.ImplementationSpecific) {
			return all, own
		}
		prefix = strings.TrimSuffix(at.path, "/") + "/"
		if own != nil {
			return append(all, d.conditionals[match{modifier: model.PrefixFirst, path: prefix}]...), own
		}
	}
	for ; prefix != ""; prefix = prefix[:len(prefix)-1] {
		above := match{modifier: model.PrefixFirst, path: prefix}
		all = append(all, d.conditionals[above]...)
		if last = d.plain[above]; last != nil {
			return all, last
		}
	}
	return all, nil // not reached: every host has a fallback
}
