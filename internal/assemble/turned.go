package assemble

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/pcre"
	"sluice/internal/route"
)

// apart is the advice to separate paths and patterns.
const apart = "give the patterns a host of their own, or set regex-scope: path in the ConfigMap"

// turn is the effect of an owner on the hosts that it turns.
type turn struct {
	// annotation is the one that asks for patterns.
	annotation string
	hosts      []string
	// own are its Exact and Prefix paths that match differently because of it; others
	// are the owners of further such paths.
	own    []string
	others []string
}

// turned reports paths that are patterns although nobody wrote them as such: each of
// them to its owner, and all of them to the owner that asked for patterns.
func (b *builder) turned(turns map[*claim.Owner]*turn) {
	if b.scope != wholeHost {
		return
	}
	askers, leads := b.askers(turns), leadsOf(b.locations)
	for at, l := range b.locations {
		if l.Modifier != model.Pattern || l.Rule.Kind == model.RuleClosed || l.Rule.Field == redirectsField {
			continue // a redirect still takes what is written
		}
		rules := b.rulesOf(l.Rule.Object)
		if b.turning[rules] {
			turns[rules.Owner].ask(b, l)
		} else if b.asking[rules] && l.Rule.PathType == string(claim.ImplementationSpecific) {
			continue // it was meant as a pattern
		} else if changes := changes(l, rivals(b.locations[:at+1], leads)); len(changes) > 0 {
			first := turns[askers[0].Owner]
			b.tell(model.Problem{Object: l.Rule.Object, Field: l.Rule.Field + ".path", Reason: Turned,
				Text: fmt.Sprintf("%s is a pattern, as %s of %s turns the host: %s; to keep it a plain path, %s",
					b.described(l), first.annotation, claim.ListedFew(refsOf(askers)), strings.Join(changes, "; "), apart)})
			for _, asker := range askers {
				turns[asker.Owner].others = append(turns[asker.Owner].others, rules.Owner.Ref.String())
			}
		}
	}
}

// ask records a path of the owner itself. An ImplementationSpecific one was meant as a
// pattern, and / takes the same requests as before.
func (t *turn) ask(b *builder, l *model.Location) {
	if l.Rule.PathType != string(claim.ImplementationSpecific) && len(extent(l, l.Rule.Path)) > 0 {
		t.own = append(t.own, b.described(l))
	}
}

// askers are the rules that turn the host, the oldest first. It records the host for each.
func (b *builder) askers(turns map[*claim.Owner]*turn) []*claim.Rules {
	var askers []*claim.Rules
	for _, rules := range b.host.rules {
		if !b.turning[rules] {
			continue
		}
		askers = append(askers, rules)
		if turns[rules.Owner] == nil {
			turns[rules.Owner] = &turn{annotation: b.askedBy(rules.Owner)}
		}
		turns[rules.Owner].hosts = append(turns[rules.Owner].hosts, hostWords(b.host.name))
	}
	return askers
}

// askedBy is the annotation by which an owner asks for patterns.
func (b *builder) askedBy(owner *claim.Owner) string {
	if owner.Annotations.Regex.Enabled {
		return owner.PrefixKey + "use-regex"
	}
	return owner.PrefixKey + "rewrite-target"
}

// rulesOf are the rules of an owner on the host.
func (b *builder) rulesOf(ref model.ObjectRef) *claim.Rules {
	at := slices.IndexFunc(b.host.rules, func(r *claim.Rules) bool { return r.Owner.Ref == ref })
	if at < 0 {
		return nil
	}
	return b.host.rules[at]
}

func refsOf(rules []*claim.Rules) []string {
	var refs []string
	for _, r := range rules {
		refs = append(refs, r.Owner.Ref.String())
	}
	return refs
}

// described names a path in a message.
func (b *builder) described(l *model.Location) string {
	return fmt.Sprintf("%s %s of %s", l.Rule.PathType, claim.Shown(l.Rule.Path), hostWords(b.host.name))
}

// surprise reports the effects of an owner's annotation beyond its own patterns.
func (t *turn) surprise(owner *claim.Owner) []model.Problem {
	if len(t.own)+len(t.others) == 0 {
		return nil
	}
	text := fmt.Sprintf("every path of %s is a pattern by this annotation", claim.ListedFew(t.hosts))
	if len(t.own) > 0 {
		matches := "match whatever begins as they say"
		if len(t.own) == 1 {
			matches = "matches whatever begins as it says"
		}
		text += fmt.Sprintf("; its own %s %s, upper and lower case the same: write pathType: ImplementationSpecific where a pattern is meant", claim.ListedFew(t.own), matches)
	}
	slices.Sort(t.others)
	if others := slices.Compact(t.others); len(others) > 0 {
		text += fmt.Sprintf("; it changes what paths of %s take: %s", claim.ListedFew(others), apart)
	}
	return []model.Problem{{Object: owner.Ref, Field: t.annotation, Reason: Turned, Text: text}}
}

// changes lists the requests that a path takes as a pattern but not as a plain path,
// and the other way round. The rivals are the locations that nginx tries up to this
// one.
func changes(l *model.Location, rivals []*model.Location) []string {
	path, _ := literalPath(l.Rule.Path)
	changes := extent(l, path)
	sign, plain := signOf(l, path)
	if !plain {
		changes = nil
	}
	if sign != "" {
		changes = append(changes, sign)
	}
	if len(changes) > 0 && strings.ToUpper(path) != strings.ToLower(path) {
		changes = append(changes, "upper and lower case are the same")
	}
	if !plain && !isBelowExact(l) && locationOf(path, []*model.Location{l}) == nil {
		changes = append(changes, fmt.Sprintf("it does not match %s itself", claim.Shown(path)))
	}
	if taker := locationOf(path, rivals); taker != nil && taker != l && !exactly(taker, l) {
		changes = append(changes, fmt.Sprintf("a request for %s itself goes to %s %s of %s", claim.Shown(path), taker.Rule.PathType, claim.Shown(taker.Rule.Path), taker.Rule.Object))
	}
	return changes
}

// extent says which further requests a path takes as a pattern.
func extent(l *model.Location, path string) []string {
	exact, slashed := l.Rule.PathType == string(claim.Exact), strings.HasSuffix(path, "/")
	examples := claim.Shown(path + "bar")
	switch {
	case path == "/", isBelowExact(l):
		return nil
	case slashed && !exact:
		return []string{"it does not match " + claim.Shown(strings.TrimSuffix(path, "/"))}
	case exact && !slashed:
		examples += " and " + claim.Shown(path+"/bar")
	}
	return []string{"it matches all that begins with it, such as " + examples}
}

// isBelowExact reports whether a pattern is that of a Prefix /foo beside an Exact /foo: it
// takes what begins with /foo/, as on any host.
func isBelowExact(l *model.Location) bool {
	path, _ := literalPath(l.Rule.Path)
	return l.Rule.PathType == string(claim.Prefix) && strings.HasSuffix(l.Path, "/") && !strings.HasSuffix(path, "/")
}

// signOf explains the special characters of a path. plain is set if the pattern still
// matches only requests that begin with the path as written.
func signOf(l *model.Location, path string) (sign string, plain bool) {
	text := strings.TrimPrefix(l.Path, "^")
	if isBelowExact(l) {
		text = strings.TrimSuffix(text, "/")
	}
	quoted := text == pcre.Quote(path) || text == rootAlone
	switch {
	case quoted && pcre.Rejection(path, 0) != "":
		return "as it does not compile as a pattern, it is quoted and matches what is written", true
	case quoted && !pcre.Taken(path):
		return "as it is not certain that it compiles as a pattern, it is quoted and matches what is written", true
	case quoted:
		return "", true
	case strings.ContainsAny(path, special):
		at := strings.IndexAny(path, special)
		return fmt.Sprintf("%q in it means what it does in a pattern", path[at:at+1]), false
	}
	return `a "." in it stands for any character`, true
}

// leadsOf returns the literal beginning of each location's pattern, in lower case.
func leadsOf(locations []*model.Location) []string {
	leads := make([]string, len(locations))
	for i, l := range locations {
		if l.Modifier == model.Pattern {
			leads[i] = route.Lower(pcre.Beginning(strings.TrimPrefix(l.Path, "^")))
		}
	}
	return leads
}

// rivals are the few patterns that may take a request for the path of the last
// location, that one included.
func rivals(locations []*model.Location, leads []string) []*model.Location {
	var found []*model.Location
	last := locations[len(locations)-1]
	path, _ := literalPath(last.Rule.Path)
	path = route.Lower(path)
	for i, l := range locations {
		if l.Modifier == model.Pattern && (l == last || strings.HasPrefix(path, leads[i])) {
			found = append(found, l)
		}
	}
	return found
}

// locationOf is the pattern among locations that takes a request for a path. It is nil
// if there is none, or if only nginx can tell.
func locationOf(path string, locations []*model.Location) *model.Location {
	answer := route.Match([]*model.Server{{Locations: locations}}, "", (&url.URL{Path: path}).EscapedPath())
	if answer.Outcome != route.Served || answer.Location.Modifier != model.Pattern {
		return nil
	}
	return answer.Location
}

// exactly reports whether a location is the Exact one of another's path, which wins on
// any host.
func exactly(l, other *model.Location) bool {
	return l.Rule.PathType == string(claim.Exact) && l.Rule.Path == other.Rule.Path
}
