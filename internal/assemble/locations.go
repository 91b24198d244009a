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

// claim makes the location of a claim, or reports why there is none.
func (b *builder) claim(c *claim.Claim) {
	switch {
	case c.Match != nil && b.leavesToOther(c):
		return
	case c.Broken || c.Owner.Denial == claim.DenyBeginnings:
		b.close(c)
		return
	case c.Match == nil && b.isPattern(c):
		b.claimPattern(c)
		return
	}
	path, text := literalPath(c.Path)
	if text == "" && c.Guards() {
		text = unwritable(path)
	}
	switch {
	case text != "":
		b.unserved(c, ".path", model.InvalidValue, text)
	case c.Match != nil:
		b.claimConditional(c, path)
	case c.PathType == claim.Exact:
		b.claimExact(c, path)
	default:
		b.claimPrefix(c, path)
	}
}

// isPattern reports whether a claim of b.rules becomes a pattern.
func (b *builder) isPattern(c *claim.Claim) bool {
	specific := c.PathType == claim.ImplementationSpecific
	return b.scope == wholeHost || b.scope == onlyAsking && b.asking[b.rules] && specific
}

// literalPath decodes a path as nginx decodes that of a request. text is the reason why
// no request can have the path, empty if one can.
func literalPath(written string) (path, text string) {
	path, err := route.Decode(written)
	if err != nil {
		return "", fmt.Sprintf("want two hexadecimal digits behind each %% (got %s)", model.Quoted(written))
	}
	if strings.ContainsFunc(path, unicode.IsControl) {
		return "", fmt.Sprintf("want a path without control characters (got %s)", model.Quoted(written))
	}
	if strings.Contains(path, "//") || strings.Contains(path+"/", "/./") || strings.Contains(path+"/", "/../") {
		return "", fmt.Sprintf("want a path without //, /./ and /../, which nginx takes out of every request (got %s)", model.Quoted(written))
	}
	if strings.HasPrefix(path+"/", model.InternalPrefix) {
		return "", fmt.Sprintf("want a path outside %s, which is reserved for Sluice (got %s)", model.InternalPrefix, model.Quoted(written))
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

// lose reports a claim whose requests another one has, unless the two do the same. If
// both are of one owner and the winner lacks a protection of the claim, the winner is
// closed.
func (b *builder) lose(c, winner *claim.Claim) {
	switch {
	case winner.Owner == c.Owner && !winner.ProtectsLike(c):
		b.closeOverlap(c, winner, "")
	case winner.Owner != c.Owner || winner.Annotations != c.Annotations || !winner.Action.Same(c.Action):
		b.problem(c, "", model.Conflict, fmt.Sprintf("%s already has %s %s of host %q with its %s, and %s",
			winner.Owner.Ref, winner.PathType, claim.Shown(winner.Path), b.host.name, winner.Field, why(winner, c)))
	default:
		b.unplaced(c.Owner, c.Field, model.SaidBefore, "its Ingress says the same before, with "+winner.Field)
	}
}

// unplaced records why a claim has no location.
func (b *builder) unplaced(owner *claim.Owner, field string, cause model.Cause, text string) {
	b.out.unplaced = append(b.out.unplaced, model.Unplaced{Object: owner.Ref, Host: b.host.name, Field: field, Cause: cause, Text: text})
}

// why returns the reason why a claim wins.
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
	if b.appRootOwner != nil && path == "/" {
		b.shadowedByAppRoot(c)
		return
	}
	if !b.take(c, match{modifier: model.Equal, path: path}) {
		return
	}
	l := b.location(c, model.RuleWritten)
	b.complete(l, c, pcre.Quote(path), nil)
	b.add(l, model.Equal, path)
}

func (b *builder) shadowedByAppRoot(c *claim.Claim) {
	b.problem(c, ".path", model.Shadowed, fmt.Sprintf("no request reaches it: the app-root of %s redirects / of host %q", b.appRootOwner.Ref, b.host.name))
}

// claimPrefix makes `location ^~ "/foo/"`, and `location = "/foo"` unless an Exact path
// has it. /foo and /foo/ are the same prefix.
func (b *builder) claimPrefix(c *claim.Claim, path string) {
	stem := strings.TrimSuffix(path, "/")
	if m := (match{modifier: model.PrefixFirst, path: stem + "/"}); !b.take(c, m) {
		b.shutStem(c, b.taken[m], stem)
		return
	}
	l := b.location(c, model.RuleWritten)
	b.complete(l, c, pcre.Quote(path), nil)
	b.add(l, model.PrefixFirst, stem+"/")
	slashed := strings.HasSuffix(path, "/")
	if stem == "" || slashed && b.Settings.Paths.TrailingSlashRedirect && l.Proxy != nil || b.exact(stem) {
		return
	}
	twin := *l
	b.add(&twin, model.Equal, stem)
}

// exact reports whether an Exact path of the host is this one.
func (b *builder) exact(path string) bool {
	if b.exacts == nil {
		b.exacts = map[string]bool{}
		for c := range claimsOf(b.host.rules) {
			if c.PathType == claim.Exact && c.Match == nil {
				for _, path := range exactTexts(c) {
					b.exacts[path] = true
				}
			}
		}
	}
	return b.exacts[path]
}

// exactTexts returns the decoded paths that an Exact claim takes, also if it is closed.
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
