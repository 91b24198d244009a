package assemble

import (
	"fmt"
	"strings"
	"unicode"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/pcre"
	"sluice/internal/route"
)

// pattern is a path as a regular expression, without the "^" of the location.
type pattern struct {
	// match is for the location and sets no variable. rewrite also names the groups
	// that the rewrite uses. names are those of all groups.
	match, rewrite string
	names          []string
}

// plain returns a pattern without named groups.
func plain(text string) pattern { return pattern{match: text, rewrite: text} }

// claimPattern makes `location ~* "^/foo"`.
func (b *builder) claimPattern(c *claim.Claim) {
	p, text := quotedPattern(c)
	switch {
	case c.Action.Redirect != nil:
		p = redirectPattern(c.Action.Redirect)
	case b.asking[b.rules]:
		p, text = writtenPattern(c)
	}
	if text == "" && c.Guards() {
		text = unwritable("^" + p.match)
	}
	switch {
	case text != "":
		b.unserved(c, ".path", model.InvalidValue, text)
		return
	case c.Owner.Denial != 0 && !pcre.Taken("^"+p.match):
		b.close(c) // nginx may have refused this very pattern
		return
	}
	m := match{modifier: model.Pattern, path: "^" + p.match}
	if c.PathType == claim.Exact {
		m.modifier = model.Equal // does not compete with other types of the same text
	}
	if !b.take(c, m) {
		return
	}
	l := b.location(c, model.RuleWritten)
	b.complete(l, c, p.rewrite, p.names)
	b.add(l, model.Pattern, m.path)
}

// writtenPattern reads a path that the user wrote as a pattern. nginx decides whether
// it compiles: a refused Ingress keeps its last good form.
func writtenPattern(c *claim.Claim) (p pattern, text string) {
	if c.PathType != claim.ImplementationSpecific && strings.ContainsFunc(c.Path, unicode.IsControl) {
		return p, fmt.Sprintf("want a path without control characters (got %s)", model.Quoted(c.Path))
	}
	unnamed, names, err := pcre.Rename(c.Path)
	if err != nil {
		return p, fmt.Sprintf("want a regular expression (got %s): %v", model.Quoted(c.Path), err)
	}
	if len(names) == 0 {
		return plain(unnamed), ""
	}
	named, _, err := pcre.Rename(c.Path, route.References(c.Annotations.Rewrite.Target+c.Annotations.ForwardedPrefix.Value)...)
	if err != nil {
		named = unnamed
	}
	return pattern{match: unnamed, rewrite: named, names: names}, ""
}

// quotedPattern reads a path that is a pattern only because of its host. As in
// ingress-nginx, it is taken as a pattern if it compiles.
func quotedPattern(c *claim.Claim) (p pattern, text string) {
	path, text := literalPath(c.Path)
	if text != "" {
		return p, text
	}
	if path != c.Path || !pcre.Compiles(path) {
		return plain(pcre.Quote(path)), ""
	}
	return plain(path), ""
}

// covered reports the patterns that get no requests because a Prefix takes them first.
func (b *builder) covered() {
	if b.scope != onlyAsking {
		return
	}
	for _, l := range b.locations {
		if l.Modifier != model.Pattern {
			continue
		}
		c := b.taken[match{modifier: model.Pattern, path: l.Path}]
		if c == nil {
			continue // it closes a claim
		}
		if prefix := b.prefixOver(strings.TrimPrefix(l.Path, "^")); prefix != nil {
			b.problem(c, ".path", model.Shadowed, fmt.Sprintf("no request reaches it: the %s path %s of %s comes before patterns", prefix.PathType, claim.Shown(prefix.Path), prefix.Owner.Ref))
		}
	}
}

// prefixOver returns a prefix of every path that a pattern matches, nil for none.
func (b *builder) prefixOver(pattern string) *claim.Claim {
	if root := b.taken[match{modifier: model.PrefixFirst, path: "/"}]; root != nil {
		return root
	}
	lead := pcre.Beginning(pattern)
	if strings.HasPrefix(pattern, lead+"(/|$)") {
		lead += "/"
	}
	for i := range lead {
		if lead[i] != '/' {
			continue
		}
		if c := b.taken[match{modifier: model.PrefixFirst, path: lead[:i+1]}]; c != nil {
			return c
		}
	}
	return nil
}
