package assemble

import (
	"fmt"
	"slices"
	"strings"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/pcre"
	"sluice/internal/route"
)

// Annotations can protect one path of an owner and not another. If nginx gives requests of
// the protected path to the other one, that one is closed, unless it is the more specific
// of the two: then it is an exception that the author wants.

// closeOverlap closes a claim that takes requests of another one of its owner, such as an
// example if it is known.
func (b *builder) closeOverlap(c, winner *claim.Claim, example string) {
	shown := func(c *claim.Claim) string { return string(c.PathType) + " " + claim.Shown(c.Path) }
	b.tell(model.Problem{Object: c.Owner.Ref, Field: c.Field + ".path", Reason: model.Conflict, Denies: true,
		Text: fmt.Sprintf("%s (%s) takes requests of %s first%s and is not protected like it: give both the same annotations, or write one so that it takes fewer requests than the other",
			shown(winner), winner.Field, shown(c), example)})
	for _, l := range b.locations {
		if l.Rule.Object == winner.Owner.Ref && l.Rule.Field == winner.Field && l.Rule.Path == winner.Path {
			shutLocation(l)
		}
	}
	for _, other := range b.conditionals {
		if other.Claim == winner {
			shutLocation(other.location)
		}
	}
}

// shutStem closes /foo for a claim of /foo/ that lost to a less protected claim of its
// owner, if no location takes /foo.
func (b *builder) shutStem(c, winner *claim.Claim, stem string) {
	stands := func(l *model.Location) bool { return l.Modifier == model.Equal && l.Path == stem }
	if winner.Owner != c.Owner || winner.ProtectsLike(c) || stem == "" || b.exact(stem) || slices.ContainsFunc(b.locations, stands) {
		return
	}
	shut := *c
	shut.Closed = true
	b.add(b.location(&shut, model.RuleClosed), model.Equal, stem)
}

// shutLocation makes a location return 503. It keeps its rule, and so its place in the
// order of patterns.
func shutLocation(l *model.Location) {
	*l = *l.Closed()
	l.Rule.Kind, l.Rule.Protects = model.RuleClosed, true
}

// closeOverlaps closes locations that take requests of a protected pattern of their
// owner, because nginx tries them first. The locations are sorted.
func (b *builder) closeOverlaps() {
	for _, rules := range b.host.rules {
		if b.scope != literal && rules.Owner.Annotations.DifferByPath() {
			b.closeOverlapsOf(rules.Owner)
		}
	}
}

// mostOverlapSteps limits the work of comparing the patterns of one owner on a host.
// Pairs beyond it count as overlapping.
const mostOverlapSteps = 2_000_000

// area is a location with its requests as a pattern.
type area struct {
	*claim.Claim
	location *model.Location
	// lead is the text in lower case that begins all its paths.
	lead string
	// pattern is nil if package pcre cannot read it.
	pattern *pcre.Pattern
}

func (b *builder) closeOverlapsOf(owner *claim.Owner) {
	claims := map[[2]string]*claim.Claim{} // by their fields and paths
	for c := range claimsOf(b.host.rules) {
		if c.Owner == owner {
			claims[[2]string{c.Field, c.Path}] = c
		}
	}
	budget := &pcre.Comparisons{Left: mostOverlapSteps}
	all := append(slices.Clone(b.locations), b.lost...)
	route.Sort(all)
	var before []area
	for _, l := range all {
		c := claims[[2]string{l.Rule.Field, l.Rule.Path}]
		if c == nil || l.Rule.Object != owner.Ref || l.Rule.Kind == model.RuleFallback {
			continue
		}
		at := areaOf(c, l)
		if l.Modifier == model.Pattern && c.Guards() {
			before = slices.DeleteFunc(before, func(earlier area) bool {
				if earlier.isShut() || earlier.ProtectsLike(c) {
					return false
				}
				example, bad := earlier.overlaps(at, budget)
				if bad {
					b.closeOverlap(c, earlier.Claim, example)
				}
				return bad
			})
		}
		before = append(before, at)
	}
}

// areaOf returns the requests of a location.
func areaOf(c *claim.Claim, l *model.Location) area {
	text, lead := l.Path, l.Path
	switch l.Modifier {
	case model.Pattern:
		lead = pcre.Beginning(strings.TrimPrefix(text, "^"))
	case model.Equal:
		text = "^" + pcre.Quote(text) + `\z`
	default:
		text = "^" + pcre.Quote(text)
	}
	compiled, _ := pcre.Compile(text, pcre.Caseless)
	return area{c, l, route.Lower(lead), compiled}
}

// isShut reports whether the location returns 503.
func (a area) isShut() bool { return a.location.Return != nil && a.location.Return.Code == 503 }

// overlaps reports whether an area may share requests with a later one, unless it is
// known to be a smaller part of it. example is a clause with a request that both take, or
// may take; empty if none is known.
func (a area) overlaps(later area, budget *pcre.Comparisons) (example string, overlaps bool) {
	switch {
	case !strings.HasPrefix(a.lead, later.lead) && !strings.HasPrefix(later.lead, a.lead):
		return "", false
	case a.pattern == nil || later.pattern == nil:
		return "", true
	}
	request, found, sure, done := budget.Common(a.pattern, later.pattern)
	switch {
	case done && !found:
		return "", false
	case sure:
		example = ", such as " + claim.Shown(request) + ","
	case found:
		example = ", perhaps " + claim.Shown(request) + ","
	}
	inside, known := budget.Covers(later.pattern, a.pattern)
	if !inside || !known {
		return example, true
	}
	all, known := budget.Covers(a.pattern, later.pattern)
	return example, all || !known
}
