package assemble

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/pcre"
	"sluice/internal/route"
)

// unserved reports a claim that cannot be served as written. If it protects, its
// requests get 503; a neighbour might serve them otherwise.
func (b *builder) unserved(c *claim.Claim, field string, reason model.Reason, text string) {
	b.refuse(c, field, reason, text)
	if c.Guards() {
		b.close(c)
	}
}

// refuse reports a claim that cannot be served.
func (b *builder) refuse(c *claim.Claim, field string, reason model.Reason, text string) {
	b.tell(model.Problem{Object: c.Owner.Ref, Field: c.Field + field, Reason: reason, Text: text, Denies: c.Guards()})
}

// close returns 503 for all requests that a claim could mean.
func (b *builder) close(c *claim.Claim) {
	shut := *c
	shut.Closed = true
	if !b.isPattern(c) {
		b.closePath(&shut)
		return
	}
	for _, start := range b.beginningsOf(c) {
		b.closeBeginning(&shut, start)
	}
}

// beginningsOf returns the plain texts that begin every request which a pattern could
// match.
func (b *builder) beginningsOf(c *claim.Claim) []string {
	beginning := "/" + strings.TrimPrefix(pcre.Beginning(c.Path), "/")
	starts := meanings(c.Path)
	switch {
	case b.asking[b.rules]:
		starts = []string{beginning}
	case strings.ContainsAny(c.Path, special):
		starts = append(starts, beginning) // it may be a pattern
	}
	for i, start := range starts {
		starts[i] = plainStart(start)
	}
	slices.Sort(starts)
	return slices.Compact(starts)
}

// closePath closes a path on a host without patterns. A plain path is closed like
// others of its type; for any other, everything that begins like it is closed.
func (b *builder) closePath(c *claim.Claim) {
	for _, path := range meanings(c.Path) {
		switch {
		case plainStart(path) != path:
			b.beginnings = append(b.beginnings, beginning{c, path})
		case c.PathType == claim.Exact:
			b.claimExact(c, path)
		default:
			b.claimPrefix(c, path)
		}
	}
}

// closeBeginning adds a pattern for everything that begins with a text, in the place of
// the claim's own pattern. It does not compete with other patterns of its text.
func (b *builder) closeBeginning(c *claim.Claim, start string) {
	path := "^" + pcre.Quote(start)
	if isExactRoot(c) {
		path = "^" + rootAlone
	}
	once := match{modifier: closing, path: c.Path + "\x00" + path}
	if b.taken[once] == nil {
		b.taken[once] = c
		b.add(b.location(c, model.RuleClosed), model.Pattern, path)
	}
}

// closing is the modifier, in a match, of patterns that return 503.
const closing model.Modifier = "503"

// beginning is a path that is closed from its plain start on.
type beginning struct {
	claim *claim.Claim
	path  string
}

// closeBeginnings adds the prefixes of paths that are closed by their beginning.
// Existing prefixes between the beginning and the whole path return 503 too, so that
// none takes the requests.
func (b *builder) closeBeginnings() {
	for _, long := range b.beginnings {
		if winner := b.taken[matchFor(long.claim, long.path)]; winner != nil && winner.Owner == long.claim.Owner && !winner.ProtectsLike(long.claim) {
			b.closeOverlap(long.claim, winner, "")
		}
		start := plainStart(long.path)
		for at := len(start) - 1; at < len(long.path); at++ {
			if m := (match{modifier: model.PrefixFirst, path: long.path[:at+1]}); long.path[at] == '/' && b.taken[m] != nil {
				b.closeTaken(m, long.claim)
			}
		}
		if m := (match{modifier: model.PrefixFirst, path: start}); b.taken[m] == nil {
			b.taken[m] = long.claim
			b.add(b.location(long.claim, model.RuleWritten), m.modifier, m.path)
		}
	}
}

// matchFor is the match of a claim with a path that is no pattern.
func matchFor(c *claim.Claim, path string) match {
	if c.PathType == claim.Exact {
		return match{modifier: model.Equal, path: path}
	}
	return match{modifier: model.PrefixFirst, path: strings.TrimSuffix(path, "/") + "/"}
}

// closeTaken closes the prefix of another claim to protect a longer path.
func (b *builder) closeTaken(m match, c *claim.Claim) {
	loser := b.taken[m]
	if loser.Owner != c.Owner {
		b.problem(loser, "", model.Conflict, fmt.Sprintf("it answers 503, as %s protects %s of host %q, which begins with this path and cannot be written to nginx.conf",
			c.Owner.Ref, claim.Shown(c.Path), b.host.name))
	}
	b.taken[m] = c
	for _, l := range b.locations {
		if l.Modifier == m.modifier && l.Path == m.path {
			*l = *b.location(c, model.RuleClosed)
			l.Modifier, l.Path = m.modifier, m.path
		}
	}
}

// meanings returns the paths that an invalid path could mean: decoded as far as
// possible and, if an escape is invalid, also as written. Empty, "." and ".." parts are
// resolved as nginx does in requests.
func meanings(written string) []string {
	if !strings.HasPrefix(written, "/") {
		written = "/" + written
	}
	decoded, err := route.Decode(written)
	if err == nil {
		return []string{resolved(decoded)}
	}
	all := []string{resolved(decodedWhereValid(written)), resolved(written)}
	slices.Sort(all)
	return slices.Compact(all)
}

// decodedWhereValid decodes a path and keeps each "%" without two hexadecimal digits.
func decodedWhereValid(path string) string {
	var out strings.Builder
	for path != "" {
		length := 1
		if path[0] == '%' {
			length = min(3, len(path))
		}
		part, err := route.Decode(path[:length])
		if err != nil {
			part, length = path[:1], 1
		}
		out.WriteString(part)
		path = path[length:]
	}
	return out.String()
}

// resolved removes empty, "." and ".." parts. Above the root is the root.
func resolved(path string) string {
	parts := []string{""}
	segments := strings.Split(path[1:], "/")
	for _, segment := range segments {
		switch segment {
		case "", ".":
		case "..":
			parts = parts[:max(1, len(parts)-1)]
		default:
			parts = append(parts, segment)
		}
	}
	if last := segments[len(segments)-1]; len(parts) == 1 || last == "" || last == "." || last == ".." {
		parts = append(parts, "")
	}
	return strings.Join(parts, "/")
}

// unwritable returns the reason why a path cannot be a token of nginx.conf, empty if it
// can. Render would leave such a location out.
func unwritable(path string) string {
	switch {
	case !utf8.ValidString(path):
		return fmt.Sprintf("want a path of UTF-8 (got %s)", model.Quoted(path))
	case strings.ContainsFunc(path, unicode.IsControl):
		return fmt.Sprintf("want a path without control characters (got %s)", model.Quoted(path))
	case len(path)+len(`""`)+strings.Count(path, `"`)+strings.Count(path, `\`) > model.LongestToken:
		return fmt.Sprintf("want a path of at most %d bytes (got %s)", model.LongestToken, model.Quoted(path))
	}
	return ""
}

// plainStart returns the plain beginning of a path, at most mostPlain bytes.
func plainStart(path string) string {
	end := strings.IndexFunc(path, func(r rune) bool {
		return !(r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune("/-._~%:@,=+!&", r))
	})
	if end < 0 {
		end = len(path)
	}
	return path[:min(end, mostPlain)]
}

// mostPlain keeps long paths from bloating nginx.conf.
const mostPlain = 200
