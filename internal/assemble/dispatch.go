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

// conditional is a claim for some of the requests of a path only.
type conditional struct {
	*claim.Claim
	at         match
	conditions []model.Condition
	location   *model.Location
}

// mostConditional is how many conditional claims a namespace may have on a host: each of
// their paths lists those of all shorter paths.
const mostConditional = 200

// claimConditional takes a claim that asks for a method, headers or parameters.
// Its location is placed by dispatch, once all that is less specific is known.
func (b *builder) claimConditional(c *claim.Claim) {
	path, text := literalPath(c.Path)
	if text == "" && c.Guards() {
		text = unwritable(path)
	}
	switch reason, refusal := b.refusal(c); {
	case c.Broken || c.Owner.Denial == claim.DenyBeginnings:
		b.close(c)
		return
	case text != "":
		b.unserved(c, text)
		return
	case refusal != "":
		b.refuse(c, "", reason, refusal)
		if c.Guards() {
			b.close(c)
		}
		return
	}
	at := matchFor(c, path)
	if b.rooted != nil && at == (match{modifier: model.Equal, path: "/"}) {
		b.shadowedByAppRoot(c)
		return
	}
	conditions, fault := route.Conditions(*c.Match)
	if fault != nil {
		b.refuse(c, "."+fault.Field, model.InvalidValue, fmt.Sprintf("want %s (got %s): the rule is left out", fault.Want, claim.Quoted(fault.Got)))
		if !c.Guards() {
			return
		}
		shut := *c
		shut.Closed, c = true, &shut
		conditions = checkable(*c.Match)
	}
	if b.lostConditional(c, at, conditions) {
		return
	}
	l := b.location(c, model.RuleWritten)
	b.rewrite(l, c, pcre.Quote(path), nil)
	b.conditionals = append(b.conditionals, &conditional{c, at, conditions, l})
}

// refusal says why the host takes no conditional claim, or no more.
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
		return model.NoRoom, fmt.Sprintf("want at most %d rules of a namespace that ask for a method, headers or query parameters on %s: this one is left out, and the oldest count", mostConditional, hostWords(b.host.name))
	}
	return "", ""
}

// refuse reports something that keeps a claim from being served.
func (b *builder) refuse(c *claim.Claim, field string, reason model.Reason, text string) {
	b.out.problems = append(b.out.problems, model.Problem{Object: c.Owner.Ref, Field: c.Field + field, Reason: reason, Text: text, Denies: c.Guards()})
}

// checkable are the conditions of a match of which something cannot be checked that
// can be: a claim that protects closes all that they hold for.
func checkable(m model.Match) []model.Condition {
	var all []model.Condition
	add := func(part model.Match) {
		if conditions, fault := route.Conditions(part); fault == nil {
			all = append(all, conditions...)
		}
	}
	add(model.Match{Method: m.Method})
	for _, h := range m.Headers {
		add(model.Match{Headers: []model.ValueMatch{h}})
	}
	for _, q := range m.Query {
		add(model.Match{Query: []model.ValueMatch{q}})
	}
	return all
}

// matchIf is what a conditional claim matches: a path and, in one text, conditions.
type matchIf struct {
	match
	conditions string
}

// lostConditional reports whether another claim has the same requests already. One
// that is closed does not compete.
func (b *builder) lostConditional(c *claim.Claim, at match, conditions []model.Condition) bool {
	if c.Closed {
		return false
	}
	key := matchIf{at, fmt.Sprintf("%q", conditions)}
	winner := b.takenIf[key]
	if winner == nil {
		b.takenIf[key] = c
		return false
	}
	b.lose(c, winner)
	return true
}

// compare orders the claims of one path as the Gateway API does: a method, more
// headers, more parameters, and then the older first.
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

// dispatcher finds out which claims a request of a path may be meant for.
type dispatcher struct {
	conditionals map[match][]*conditional
	// plain are the locations for all requests of their paths. Those of prefixes are
	// known by PrefixFirst.
	plain map[match]*model.Location
}

// dispatch replaces the locations of paths with conditional claims by ones that hand
// each request over to the first claim that it is meant for: of the path itself, and
// then of less specific ones.
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
	route.Sort(b.locations)
}

func matchOf(l *model.Location) match {
	if l.Modifier == model.Prefix {
		return match{modifier: model.PrefixFirst, path: l.Path}
	}
	return match{modifier: l.Modifier, path: l.Path}
}

// dispatchAt makes the location of a match, nil if nothing depends on conditions
// there.
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
			return l // all that is less specific is closed
		}
	}
	l.Rule.Protects = l.Rule.Protects || last.Rule.Protects
	l.Dispatch = append(l.Dispatch, model.Candidate{To: b.target(last)})
	return l
}

// target gives the name of the internal location that does what a location does. The
// access log names the rule, so that rules share none.
func (b *builder) target(l *model.Location) string {
	return b.internals.add(model.Named, "route-"+hashOf(model.Location{Rule: l.Rule}), "", l)
}

// candidates are the conditional claims for the requests of a match, the most specific
// first, and what is for all other requests.
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
	return all, nil // no host is without a fallback
}
