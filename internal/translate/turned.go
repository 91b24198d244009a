package translate

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"sluice/internal/model"
	"sluice/internal/pcre"
	"sluice/internal/route"
)

// apart says how paths and patterns are kept from each other.
const apart = "give the patterns a host of their own, or set regex-scope: path in the ConfigMap"

// turn is what an Ingress does to the hosts that it turns.
type turn struct {
	// annotation asked for patterns.
	annotation string
	hosts      []string
	// own are its own Exact and Prefix paths that match otherwise for it, others
	// the other Ingresses that have such paths.
	own    []string
	others []string
}

// turned reports the paths of a host that are patterns although nobody wrote
// them as such: to their Ingress each of them, and to the Ingress that asked for
// patterns all of them at once.
func (b *builder) turned(turns map[*owner]*turn) {
	if b.scope != wholeHost {
		return
	}
	askers, leads := b.askers(turns), leadsOf(b.locations)
	for at, l := range b.locations {
		if l.Modifier != model.Pattern || l.Rule.Kind == model.RuleClosed {
			continue
		}
		if rules := b.rulesOf(l.Rule.Object); b.asking[rules] {
			turns[rules.owner].ask(b, l)
		} else if changes := changes(l, rivals(b.locations[:at+1], leads)); len(changes) > 0 {
			first := turns[askers[0].owner]
			b.out.problems = append(b.out.problems, model.Problem{Object: l.Rule.Object, Field: l.Rule.Field + ".path", Reason: Turned,
				Text: fmt.Sprintf("%s is a pattern, as %s of %s turns the host: %s; to keep it a plain path, %s",
					b.described(l), first.annotation, listedFew(refsOf(askers)), strings.Join(changes, "; "), apart)})
			for _, asker := range askers {
				turns[asker.owner].others = append(turns[asker.owner].others, rules.owner.ref.String())
			}
		}
	}
}

// ask notes a path of the Ingress itself. One that is ImplementationSpecific was
// meant as a pattern, and / takes as much as before.
func (t *turn) ask(b *builder, l *model.Location) {
	if l.Rule.PathType != string(pathSpecific) && len(extent(l.Rule.PathType, l.Rule.Path)) > 0 {
		t.own = append(t.own, b.described(l))
	}
}

// askers are the rules that asked for patterns, the oldest first, each noted
// with its host.
func (b *builder) askers(turns map[*owner]*turn) []*hostRules {
	var askers []*hostRules
	for _, rules := range b.host.rules {
		if !b.asking[rules] {
			continue
		}
		askers = append(askers, rules)
		if turns[rules.owner] == nil {
			turns[rules.owner] = &turn{annotation: b.askedBy(rules.owner)}
		}
		turns[rules.owner].hosts = append(turns[rules.owner].hosts, hostWords(b.host.name))
	}
	return askers
}

// askedBy is the annotation by which an Ingress asks for patterns.
func (b *builder) askedBy(ing *owner) string {
	if ing.annotations.Regex.Enabled {
		return ing.prefixKey + "use-regex"
	}
	return ing.prefixKey + "rewrite-target"
}

// rulesOf are the rules of an Ingress on the host.
func (b *builder) rulesOf(ref model.ObjectRef) *hostRules {
	at := slices.IndexFunc(b.host.rules, func(r *hostRules) bool { return r.owner.ref == ref })
	if at < 0 {
		return nil
	}
	return b.host.rules[at]
}

func refsOf(rules []*hostRules) []string {
	var refs []string
	for _, r := range rules {
		refs = append(refs, r.owner.ref.String())
	}
	return refs
}

// described names a path in a text.
func (b *builder) described(l *model.Location) string {
	return fmt.Sprintf("%s %s of %s", l.Rule.PathType, shown(l.Rule.Path), hostWords(b.host.name))
}

// surprise tells an Ingress what its annotation does beyond its patterns.
func (t *turn) surprise(ing *owner) []model.Problem {
	if len(t.own)+len(t.others) == 0 {
		return nil
	}
	text := fmt.Sprintf("every path of %s is a pattern by this annotation", listedFew(t.hosts))
	if len(t.own) > 0 {
		matches := "match whatever begins as they say"
		if len(t.own) == 1 {
			matches = "matches whatever begins as it says"
		}
		text += fmt.Sprintf("; its own %s %s, upper and lower case the same: write pathType: ImplementationSpecific where a pattern is meant", listedFew(t.own), matches)
	}
	slices.Sort(t.others)
	if others := slices.Compact(t.others); len(others) > 0 {
		text += fmt.Sprintf("; it changes what paths of %s take: %s", listedFew(others), apart)
	}
	return []model.Problem{{Object: ing.ref, Field: t.annotation, Reason: Turned, Text: text}}
}

// few is how many of a list are named.
const few = 3

// listedFew gives "a, b, c and 2 more".
func listedFew(words []string) string {
	text := strings.Join(words[:min(len(words), few)], ", ")
	if more := len(words) - few; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// changes says what a path matches as a pattern and would not as a plain path,
// and what it does not match any more. The rivals are tried before it, and it is
// the last of them.
func changes(l *model.Location, rivals []*model.Location) []string {
	path, _ := literalPath(l.Rule.Path)
	changes := extent(l.Rule.PathType, path)
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
	if !plain && locationOf(path, []*model.Location{l}) == nil {
		changes = append(changes, fmt.Sprintf("it does not match %s itself", shown(path)))
	}
	if taker := locationOf(path, rivals); taker != nil && taker != l && !exactly(taker, l) {
		changes = append(changes, fmt.Sprintf("a request for %s itself goes to %s %s of %s", shown(path), taker.Rule.PathType, shown(taker.Rule.Path), taker.Rule.Object))
	}
	return changes
}

// extent says how far a path reaches as a pattern.
func extent(pathType, path string) []string {
	exact, slashed := pathType == string(pathExact), strings.HasSuffix(path, "/")
	examples := shown(path + "bar")
	switch {
	case exact && path == "/":
		return []string{"it matches every request"}
	case path == "/":
		return nil
	case slashed && !exact:
		return []string{"it does not match " + shown(strings.TrimSuffix(path, "/"))}
	case exact && !slashed:
		examples += " and " + shown(path+"/bar")
	}
	return []string{"it matches all that begins with it, such as " + examples}
}

// signOf says what becomes of the characters that mean something in a pattern.
// plain: what it matches still begins with the path as it is written.
func signOf(l *model.Location, path string) (text string, plain bool) {
	const special = `\+*?()|[]{}^$`
	quoted := l.Path == "^"+pcre.Quote(path)
	switch {
	case quoted && !pcre.Compiles(path):
		return "as it does not compile as a pattern, it is quoted and matches what is written", true
	case quoted:
		return "", true
	case strings.ContainsAny(path, special):
		at := strings.IndexAny(path, special)
		return fmt.Sprintf("%q in it means what it does in a pattern", path[at:at+1]), false
	}
	return `a "." in it stands for any character`, true
}

// leadsOf gives what all that each location's pattern matches begins with, in
// lower case.
func leadsOf(locations []*model.Location) []string {
	leads := make([]string, len(locations))
	for i, l := range locations {
		if l.Modifier == model.Pattern {
			leads[i] = strings.ToLower(pcre.Beginning(strings.TrimPrefix(l.Path, "^")))
		}
	}
	return leads
}

// rivals are the patterns that may take the request for the path of the last
// location, itself included. Of thousands on a host that is a few.
func rivals(locations []*model.Location, leads []string) []*model.Location {
	var found []*model.Location
	last := locations[len(locations)-1]
	path, _ := literalPath(last.Rule.Path)
	path = strings.ToLower(path)
	for i, l := range locations {
		if l.Modifier == model.Pattern && (l == last || strings.HasPrefix(path, leads[i])) {
			found = append(found, l)
		}
	}
	return found
}

// locationOf is the pattern among locations that the request for a path goes to;
// nil where it is none, or not known.
func locationOf(path string, locations []*model.Location) *model.Location {
	answer := route.Match([]*model.Server{{Locations: locations}}, "", (&url.URL{Path: path}).EscapedPath())
	if answer.Outcome != route.Served || answer.Location.Modifier != model.Pattern {
		return nil
	}
	return answer.Location
}

// exactly says whether a location is the Exact one of another's path, which comes
// before it on any host.
func exactly(l, other *model.Location) bool {
	return l.Rule.PathType == string(pathExact) && l.Rule.Path == other.Rule.Path
}
