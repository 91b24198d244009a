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

// unserved reports a claim that cannot be served as it is written. If its Ingress
// keeps requests out, they get 503: what is left out is open to the neighbours.
func (b *builder) unserved(c *claim.Claim, text string) {
	b.out.problems = append(b.out.problems, model.Problem{Object: c.Owner.Ref, Field: c.Field + ".path", Reason: model.InvalidValue, Text: text, Denies: c.Guards()})
	if c.Guards() {
		b.close(c)
	}
}

// close answers 503 to whatever a claim could be meant to take.
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

// beginningsOf gives plain texts that all begins with that a claim could take as a
// pattern.
func (b *builder) beginningsOf(c *claim.Claim) []string {
	starts := meanings(c.Path)
	if b.asking[b.rules] && strings.HasPrefix(c.Path, "/") {
		starts = []string{"/" + strings.TrimPrefix(pcre.Beginning(c.Path), "/")}
	}
	for i, start := range starts {
		starts[i] = plainStart(start)
	}
	return slices.Compact(starts)
}

// closePath closes a path where no pattern is in force: as others of its type are
// taken if it is plain, and else all that begins as it does.
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

// closeBeginning adds a pattern for all that begins with a text. It is tried when
// that of the claim would be, and does not compete with another of its text.
func (b *builder) closeBeginning(c *claim.Claim, start string) {
	path := "^" + pcre.Quote(start)
	once := match{modifier: closing, path: c.Path + "\x00" + path}
	if b.taken[once] == nil {
		b.taken[once] = c
		b.add(b.location(c, model.RuleClosed), model.Pattern, path)
	}
}

// closing stands in matches for patterns that answer 503.
const closing model.Modifier = "503"

// beginning is a path that is closed from its plain start on.
type beginning struct {
	claim *claim.Claim
	path  string
}

// closeBeginnings adds the prefixes that stand for longer paths. No shorter path
// may have their requests: those between the prefix and the path answer 503 too.
func (b *builder) closeBeginnings() {
	for _, long := range b.beginnings {
		if winner := b.taken[matchFor(long.claim, long.path)]; winner != nil && winner.Owner == long.claim.Owner && !winner.ProtectsLike(long.claim) {
			b.closeOverlap(long.claim, winner)
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

// matchFor is what a claim matches by a path that is no pattern.
func matchFor(c *claim.Claim, path string) match {
	if c.PathType == claim.Exact {
		return match{modifier: model.Equal, path: path}
	}
	return match{modifier: model.PrefixFirst, path: strings.TrimSuffix(path, "/") + "/"}
}

// closeTaken closes the prefix of another claim for the sake of a longer path.
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

// meanings are the paths of requests that a path may be meant for, whatever is
// wrong with it: with escapes decoded as far as they can be, and, where one cannot,
// as it is written; each without what nginx takes out of every request.
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

// decodedWhereValid decodes a path and leaves a "%" as it is that two
// hexadecimal digits do not follow.
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

// resolved takes empty, "." and ".." parts out of a path. Above the root is the
// root.
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

// unwritable says why a path cannot be a token of nginx.conf, if it cannot. Render
// leaves such a location out.
func unwritable(path string) string {
	switch {
	case !utf8.ValidString(path):
		return fmt.Sprintf("want a path of UTF-8 (got %s)", claim.Quoted(path))
	case strings.ContainsFunc(path, unicode.IsControl):
		return fmt.Sprintf("want a path without control characters (got %s)", claim.Quoted(path))
	case len(path)+len(`""`)+strings.Count(path, `"`)+strings.Count(path, `\`) > model.LongestToken:
		return fmt.Sprintf("want a path of at most %d bytes (got %s)", model.LongestToken, claim.Quoted(path))
	}
	return ""
}

// plainStart gives as much of the beginning of a path as is plain, and no more than
// mostPlain bytes.
func plainStart(path string) string {
	end := strings.IndexFunc(path, func(r rune) bool {
		return !(r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune("/-._~%:@,=+!&", r))
	})
	if end < 0 {
		end = len(path)
	}
	return path[:min(end, mostPlain)]
}

// mostPlain keeps a path that is too long from making nginx.conf long.
const mostPlain = 200
