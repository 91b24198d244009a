package assemble

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/pcre"
	"sluice/internal/route"
)

// claim gives a path its location, or says why it gets none.
func (b *builder) claim(c *claim.Claim) {
	if c.Match != nil {
		b.claimConditional(c)
		return
	}
	if c.Broken || c.Owner.Denial == claim.DenyBeginnings {
		b.close(c)
		return
	}
	if b.isPattern(c) {
		b.claimPattern(c)
		return
	}
	path, text := literalPath(c.Path)
	if text == "" && c.Guards() {
		text = unwritable(path)
	}
	switch {
	case text != "":
		b.unserved(c, text)
	case c.PathType == claim.Exact:
		b.claimExact(c, path)
	default:
		b.claimPrefix(c, path)
	}
}

// isPattern reports whether a claim of the rules at hand becomes a pattern.
func (b *builder) isPattern(c *claim.Claim) bool {
	specific := c.PathType == claim.ImplementationSpecific
	return b.scope == wholeHost || b.scope == onlyAsking && b.asking[b.rules] && specific
}

// literalPath decodes a path as nginx does with that of a request, and says
// what makes it one that no request has.
func literalPath(written string) (path, text string) {
	path, err := route.Decode(written)
	if err != nil {
		return "", fmt.Sprintf("want two hexadecimal digits behind each %% (got %s)", claim.Quoted(written))
	}
	if strings.ContainsFunc(path, unicode.IsControl) {
		return "", fmt.Sprintf("want a path without control characters (got %s)", claim.Quoted(written))
	}
	if strings.Contains(path, "//") || strings.Contains(path+"/", "/./") || strings.Contains(path+"/", "/../") {
		return "", fmt.Sprintf("want a path without //, /./ and /../, which nginx takes out of every request (got %s)", claim.Quoted(written))
	}
	if strings.HasPrefix(path+"/", model.InternalPrefix) {
		return "", fmt.Sprintf("want a path that is not below %s, which Sluice has for itself (got %s)", model.InternalPrefix, claim.Quoted(written))
	}
	return path, ""
}

// take reserves a match. The first claim wins. Later claims with another backend get a
// Conflict.
func (b *builder) take(c *claim.Claim, m match) bool {
	winner := b.taken[m]
	if winner == nil {
		b.taken[m] = c
		return true
	}
	if winner.Owner != c.Owner && c.Guards() && strings.HasPrefix(m.path, "^") && c.Owner.Annotations.DifferByPath() {
		b.lost = append(b.lost, &model.Location{Modifier: model.Pattern, Path: m.path, Rule: b.decorated(c, model.RuleWritten).Rule})
	}
	b.lose(c, winner)
	return false
}

// lose tells the owner of a claim who has what it asks for, unless that changes
// nothing. The winner is closed if it is of the same Ingress and lacks a protection of
// the claim.
func (b *builder) lose(c, winner *claim.Claim) {
	switch {
	case winner.Owner == c.Owner && !winner.ProtectsLike(c):
		b.closeOverlap(c, winner)
	case winner.Owner != c.Owner || winner.Annotations != c.Annotations || !winner.Action.Same(c.Action):
		b.problem(c, "", model.Conflict, fmt.Sprintf("%s already has %s %s of host %q with its %s, and %s",
			winner.Owner.Ref, winner.PathType, claim.Shown(winner.Path), b.host.name, winner.Field, why(winner, c)))
	default:
		b.unplaced(c.Owner, c.Field, model.SaidBefore, "its Ingress says the same before")
	}
}

// unplaced records why a claim has no location, or all of an owner on the host if field
// is empty.
func (b *builder) unplaced(owner *claim.Owner, field string, cause model.Cause, text string) {
	b.out.unplaced = append(b.out.unplaced, model.Unplaced{Object: owner.Ref, Host: b.host.name, Field: field, Cause: cause, Text: text})
}

// why says why a claim comes first.
func why(winner, loser *claim.Claim) string {
	switch {
	case winner.Owner == loser.Owner:
		return "the first of an Ingress counts"
	case !winner.Owner.Age.Created.Equal(loser.Owner.Age.Created):
		return "the oldest counts"
	case winner.Owner.Age.LastFirst:
		return "of two of the same age the one whose name sorts last counts"
	}
	return "of two of the same age the one whose name sorts first counts"
}

func (b *builder) add(l *model.Location, modifier model.Modifier, path string) {
	l.Modifier, l.Path = modifier, path
	b.locations = append(b.locations, l)
}

// claimExact makes `location = "/foo"`.
func (b *builder) claimExact(c *claim.Claim, path string) {
	if b.rooted != nil && path == "/" {
		b.shadowedByAppRoot(c)
		return
	}
	if !b.take(c, match{modifier: model.Equal, path: path}) {
		return
	}
	l := b.location(c, model.RuleWritten)
	b.rewrite(l, c, pcre.Quote(path), nil)
	b.add(l, model.Equal, path)
}

func (b *builder) shadowedByAppRoot(c *claim.Claim) {
	b.problem(c, ".path", model.Shadowed, fmt.Sprintf("no request reaches it: the app-root of %s redirects / of host %q", b.rooted.Ref, b.host.name))
}

// claimPrefix makes `location ^~ "/foo/"`, and `location = "/foo"` unless an
// Exact path has that. /foo and /foo/ are the same prefix.
func (b *builder) claimPrefix(c *claim.Claim, path string) {
	stem := strings.TrimSuffix(path, "/")
	if m := (match{modifier: model.PrefixFirst, path: stem + "/"}); !b.take(c, m) {
		b.shutStem(c, b.taken[m], stem)
		return
	}
	l := b.location(c, model.RuleWritten)
	b.rewrite(l, c, pcre.Quote(path), nil)
	b.add(l, model.PrefixFirst, stem+"/")
	slashed := strings.HasSuffix(path, "/")
	if stem == "" || slashed && b.Settings.Paths.TrailingSlashRedirect && l.Proxy != nil || b.exact(stem) {
		return
	}
	twin := *l
	b.add(&twin, model.Equal, stem)
}

// exact says whether any Exact path of the host is this one.
func (b *builder) exact(path string) bool {
	return b.exactPaths()[path]
}

// exactTexts gives the paths that an Exact claim takes, be it to close them.
func exactTexts(c *claim.Claim) []string {
	path, text := literalPath(c.Path)
	switch {
	case text == "" && !c.Broken:
		return []string{path}
	case c.Guards():
		return slices.DeleteFunc(meanings(c.Path), func(path string) bool { return plainStart(path) != path })
	}
	return nil
}

// exactPaths are the decoded Exact paths of the host.
func (b *builder) exactPaths() map[string]bool {
	if b.exacts == nil {
		b.exacts = map[string]bool{}
		for _, rules := range b.host.rules {
			for i := range rules.Claims {
				if c := &rules.Claims[i]; c.PathType == claim.Exact && c.Match == nil {
					for _, path := range exactTexts(c) {
						b.exacts[path] = true
					}
				}
			}
		}
	}
	return b.exacts
}
