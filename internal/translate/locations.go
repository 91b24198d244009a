package translate

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/route"
)

// claim gives a path its location, or says why it gets none.
func (b *builder) claim(c *claim) {
	if c.broken || c.owner.denial == DenyBeginnings {
		b.close(c)
		return
	}
	if b.isPattern(c) {
		b.claimPattern(c)
		return
	}
	path, text := literalPath(c.path)
	if text == "" && c.owner.guards() {
		text = unwritable(path)
	}
	switch {
	case text != "":
		b.unserved(c, text)
	case c.pathType == networkingv1.PathTypeExact:
		b.claimExact(c, path)
	default:
		b.claimPrefix(c, path)
	}
}

// isPattern reports whether a claim of the rules at hand becomes a pattern.
func (b *builder) isPattern(c *claim) bool {
	specific := c.pathType == networkingv1.PathTypeImplementationSpecific
	return b.scope == wholeHost || b.scope == onlyAsking && b.asking[b.rules] && specific
}

// literalPath decodes a path as nginx does with that of a request, and says
// what makes it one that no request has.
func literalPath(written string) (path, text string) {
	path, err := route.Decode(written)
	if err != nil {
		return "", fmt.Sprintf("want two hexadecimal digits behind each %% (got %s)", quoted(written))
	}
	if strings.ContainsFunc(path, unicode.IsControl) {
		return "", fmt.Sprintf("want a path without control characters (got %s)", quoted(written))
	}
	if strings.Contains(path, "//") || strings.Contains(path+"/", "/./") || strings.Contains(path+"/", "/../") {
		return "", fmt.Sprintf("want a path without //, /./ and /../, which nginx takes out of every request (got %s)", quoted(written))
	}
	return path, ""
}

// take reserves a match. If it is taken, the claim loses, and unless it would
// change nothing its Ingress is told to whom.
func (b *builder) take(c *claim, m match) bool {
	winner := b.taken[m]
	if winner == nil {
		b.taken[m] = c
		return true
	}
	if winner.owner != c.owner || !sameBackend(winner.backend, c.backend) {
		b.problem(c, "", model.Conflict, fmt.Sprintf("%s already has %s %s of host %q with its %s, and %s",
			winner.owner.ref, winner.pathType, shown(winner.path), b.host.name, winner.field, why(winner, c)))
	}
	return false
}

// why says why a claim comes first.
func why(winner, loser *claim) string {
	switch {
	case winner.owner == loser.owner:
		return "the first of an Ingress counts"
	case winner.owner.object.CreationTimestamp.Equal(&loser.owner.object.CreationTimestamp):
		return "of two of the same age the one whose name sorts last counts"
	}
	return "the oldest counts"
}

func sameBackend(a, b *networkingv1.IngressBackend) bool {
	return a.Resource == nil && b.Resource == nil && a.Service != nil && b.Service != nil && *a.Service == *b.Service
}

func (b *builder) add(l *model.Location, modifier model.Modifier, path string) {
	l.Modifier, l.Path = modifier, path
	b.locations = append(b.locations, l)
}

// claimExact makes `location = "/foo"`.
func (b *builder) claimExact(c *claim, path string) {
	if b.rooted != nil && path == "/" {
		b.problem(c, ".path", model.Shadowed, fmt.Sprintf("no request reaches it: the app-root of %s redirects / of host %q", b.rooted.ref, b.host.name))
		return
	}
	if !b.take(c, match{model.Equal, path}) {
		return
	}
	l := b.location(c, model.RuleWritten)
	b.rewrite(l, c.owner, route.Quote(path), nil)
	b.add(l, model.Equal, path)
}

// claimPrefix makes `location ^~ "/foo/"`, and `location = "/foo"` unless an
// Exact path has that. /foo and /foo/ are the same prefix.
func (b *builder) claimPrefix(c *claim, path string) {
	stem := strings.TrimSuffix(path, "/")
	if !b.take(c, match{model.PrefixFirst, stem + "/"}) {
		return
	}
	l := b.location(c, model.RuleWritten)
	b.rewrite(l, c.owner, route.Quote(path), nil)
	b.add(l, model.PrefixFirst, stem+"/")
	slashed := strings.HasSuffix(path, "/")
	if stem == "" || slashed && b.settings.Paths.TrailingSlashRedirect && l.Proxy != nil || b.exact(stem) {
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
func exactTexts(c *claim) []string {
	path, text := literalPath(c.path)
	switch {
	case text == "" && !c.broken:
		return []string{path}
	case c.owner.guards():
		return slices.DeleteFunc(meanings(c.path), func(path string) bool { return plainStart(path) != path })
	}
	return nil
}

// exactPaths are the decoded Exact paths of the host.
func (b *builder) exactPaths() map[string]bool {
	if b.exacts == nil {
		b.exacts = map[string]bool{}
		for _, rules := range b.host.rules {
			for i := range rules.claims {
				if c := &rules.claims[i]; c.pathType == networkingv1.PathTypeExact {
					for _, path := range exactTexts(c) {
						b.exacts[path] = true
					}
				}
			}
		}
	}
	return b.exacts
}
