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
	p, text := b.patternOf(b.rules, c)
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
	case isExactRoot(c) && b.losesRoot(c), !b.take(c, b.matchOfPattern(c, p)):
		return
	}
	path := "^" + p.match
	if b.leavesToExact(c) {
		path += "/"
	}
	l := b.location(c, model.RuleWritten)
	b.complete(l, c, p.rewrite, p.names)
	b.add(l, model.Pattern, path)
}

// patternOf reads the path of a claim as a pattern. text is the reason why it is none.
func (b *builder) patternOf(rules *claim.Rules, c *claim.Claim) (p pattern, text string) {
	switch {
	case c.Action.Redirect != nil:
		return redirectPattern(c.Action.Redirect), ""
	case isExactRoot(c):
		return pattern{match: rootAlone, rewrite: "/"}, ""
	case b.asking[rules]:
		return writtenPattern(c)
	}
	return b.turnedPattern(c)
}

// matchOfPattern is what a claim competes for. Of claims with one pattern the first one
// counts, as in ingress-nginx, whatever their types. A redirect does not compete with paths.
func (b *builder) matchOfPattern(c *claim.Claim, p pattern) match {
	m := match{modifier: model.Pattern, path: "^" + p.match}
	switch {
	case c.Action.Redirect != nil && c.PathType == claim.Exact:
		m.modifier = model.Equal
	case b.leavesToExact(c) && b.taken[m] == nil:
		m.modifier = model.PrefixFirst // an Exact path can still have the pattern
	}
	return m
}

// leavesToExact reports whether a Prefix /foo takes only what begins with /foo/, because an
// Exact /foo of the host has the rest. As in ingress-nginx, this is for a path that became a
// pattern because of its host.
func (b *builder) leavesToExact(c *claim.Claim) bool {
	if c.PathType != claim.Prefix || strings.HasSuffix(c.Path, "/") || c.Action.Redirect != nil || asksItself(c) {
		return false
	}
	if b.exactPatterns == nil {
		b.exactPatterns = map[string]bool{}
		for _, rules := range b.host.rules {
			for i := range rules.Claims {
				b.addExactPattern(rules, &rules.Claims[i])
			}
		}
	}
	return b.exactPatterns[c.Path]
}

// asksItself reports whether a path is a pattern even without its host and its neighbours.
func asksItself(c *claim.Claim) bool {
	return c.Annotations.Regex.Enabled || rewrites(c.Annotations.Rewrite.Target, c.Path)
}

// addExactPattern records an Exact path that gets a location.
func (b *builder) addExactPattern(rules *claim.Rules, c *claim.Claim) {
	if c.PathType != claim.Exact || c.Match != nil || c.Action.Redirect != nil {
		return
	}
	if _, text := b.patternOf(rules, c); text == "" || c.Guards() {
		b.exactPatterns[c.Path] = true
	}
}

// rootAlone is the pattern of an Exact path /.
const rootAlone = `/\z`

func isExactRoot(c *claim.Claim) bool {
	return c.PathType == claim.Exact && c.Path == "/" && c.Action.Redirect == nil
}

// losesRoot reports whether an Exact path / gets no requests: because of an app-root, of an
// earlier path / of another type, or of a later one that is better protected. In
// ingress-nginx it never comes before another path /.
func (b *builder) losesRoot(c *claim.Claim) bool {
	if b.appRootOwner != nil {
		b.shadowedByAppRoot(c)
		return true
	}
	if earlier := b.taken[match{modifier: model.Pattern, path: "^/"}]; earlier != nil {
		b.lose(c, earlier)
		return true
	}
	for other := range claimsOf(b.host.rules) {
		if other.Path == "/" && other.PathType != claim.Exact && other.Match == nil && other.Owner != c.Owner && !c.ProtectsLike(other) {
			b.problem(c, "", model.Conflict, fmt.Sprintf("%s %s of %s has the requests for / of %s, as it is protected and this path is not protected like it",
				other.PathType, other.Path, other.Owner.Ref, hostWords(b.host.name)))
			return true
		}
	}
	return false
}

// writtenPattern reads a path that the user wrote as a pattern. nginx decides whether
// it compiles: a refused Ingress keeps its last good form.
func writtenPattern(c *claim.Claim) (p pattern, text string) {
	if c.PathType != claim.ImplementationSpecific && strings.ContainsFunc(c.Path, unicode.IsControl) {
		return p, fmt.Sprintf("want a path without control characters (got %s)", model.Quoted(c.Path))
	}
	p, err := renamed(c.Path, c)
	if err != nil {
		return p, fmt.Sprintf("want a regular expression (got %s): %v", model.Quoted(c.Path), err)
	}
	return p, ""
}

// renamed renames the groups of a claim's pattern, so that they set no variables of Sluice.
func renamed(text string, c *claim.Claim) (pattern, error) {
	unnamed, names, err := pcre.Rename(text)
	if err != nil {
		return pattern{}, err
	}
	if len(names) == 0 {
		return plain(unnamed), nil
	}
	named, _, err := pcre.Rename(text, route.References(c.Annotations.Rewrite.Target+c.Annotations.ForwardedPrefix.Value)...)
	if err != nil {
		named = unnamed
	}
	return pattern{match: unnamed, rewrite: named, names: names}, nil
}

// turnedPattern reads a path that is a pattern only because of its host. As in
// ingress-nginx, it is a pattern if PCRE2 compiles it, and otherwise quoted. If that is not
// certain, a path that protects is neither; text is the reason.
func (b *builder) turnedPattern(c *claim.Claim) (p pattern, text string) {
	path, text := literalPath(c.Path)
	if text != "" {
		return p, text
	}
	quoted := plain(pcre.Quote(path))
	if !strings.ContainsAny(c.Path, special+".") {
		return quoted, ""
	}
	written, known := decodedPattern(c.Path)
	if known && pcre.Rejection("^"+written, 0) != "" {
		return quoted, ""
	}
	if known && pcre.Taken("^"+written) {
		if p, err := renamed(written, c); err == nil {
			return p, ""
		}
	}
	if !c.Guards() {
		return quoted, ""
	}
	return p, fmt.Sprintf("want a path that certainly is a regular expression, or certainly is none, as the paths of %s are patterns (got %s)",
		hostWords(b.host.name), model.Quoted(c.Path))
}

// decodedPattern decodes the percent escapes of a path that may be a pattern: what they
// stand for is literal text. known is false if an escape changes what is before it.
func decodedPattern(path string) (decoded string, known bool) {
	switch {
	case !strings.Contains(path, "%"):
		return path, true
	case !strings.ContainsAny(path, special):
		plain, err := route.Decode(path)
		return pcre.Quote(plain), err == nil
	case strings.Contains(path, `\%`):
		return "", false
	}
	var out strings.Builder
	for path != "" {
		before, after, found := strings.Cut(path, "%")
		out.WriteString(before)
		if !found {
			break
		}
		literal, err := route.Decode("%" + after[:min(2, len(after))])
		if err != nil {
			return "", false
		}
		out.WriteString(pcre.Quote(literal))
		path = after[2:]
	}
	return out.String(), true
}

// special are the characters with a meaning in patterns, without the dot.
const special = `\+*?()|[]{}^$`

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
