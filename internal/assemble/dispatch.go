package assemble

import (
	"maps"
	"slices"
	"strings"

	"sluice/internal/claim"
	"sluice/internal/model"
)

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
