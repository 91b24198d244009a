package guard

import (
	"cmp"
	"strings"

	"sluice/internal/pcre"
)

// reading is a claim with what its path means.
type reading struct {
	*Claim
	// age is its place among the claims.
	age   int
	exact bool
	// pattern is set if it is tried as a pattern, asked if it was written as one.
	pattern, asked bool
	// texts are the paths that it may stand for as plain text.
	texts []string
	// compiled is the path as a pattern; nil if it is none, or cannot be told.
	compiled *pcre.Pattern
	// start is the literal beginning of a pattern, in lower case; sure is as much of
	// it as all begins with that it matches.
	start, sure string
}

func read(c *Claim, turned bool) *reading {
	plain := c.PathType == "Exact" || c.PathType == "Prefix"
	r := &reading{Claim: c, exact: c.PathType == "Exact", pattern: turned || c.Pattern && !plain}
	r.asked = r.pattern && c.Pattern
	r.texts = plainTexts(c.Path)
	if r.pattern && !turnedPlain(c, turned) {
		r.compiled, _ = pcre.Compile("^"+c.Path, pcre.Caseless)
		r.start, r.sure = startOf(c.Path), sureStart(c.Path)
	}
	return r
}

// turnedPlain tells a path that has no characters which mean something in a
// pattern, of an Ingress that did not ask for one.
func turnedPlain(c *Claim, turned bool) bool {
	return turned && !c.Pattern && !strings.ContainsAny(c.Path, special+"%")
}

// takes reports whether the claim is sure to ask for a request.
func (r *reading) takes(path string, left *int) bool {
	switch {
	case r.asked && r.compiled == nil:
		return strings.HasPrefix(lower(path), r.start)
	case r.asked:
		ok, err := r.compiled.Matches(path, left)
		return ok && err == nil
	case !r.pattern || r.compiled == nil:
		return r.asText(path) != ""
	}
	ok, err := r.compiled.Matches(path, left)
	return ok && err == nil && r.asText(path) != ""
}

// mayTake reports whether the claim may be meant for a request.
func (r *reading) mayTake(path string, left *int) bool {
	if r.pattern && (r.compiled != nil || r.asked) {
		if r.compiled == nil {
			return strings.HasPrefix(lower(path), r.sure)
		}
		if ok, err := r.compiled.Matches(path, left); ok || err != nil {
			return true
		}
	}
	return !r.asked && r.asText(path) != ""
}

// asText gives the longest of the texts by which a claim takes a path, "" if none
// does.
func (r *reading) asText(path string) string {
	longest := ""
	for _, text := range r.texts {
		stem := strings.TrimSuffix(text, "/")
		var ok bool
		switch {
		case r.pattern:
			ok = strings.HasPrefix(lower(path), lower(text))
		case r.exact:
			ok = path == text
		default:
			ok = path == stem || strings.HasPrefix(path, stem+"/")
		}
		if ok && len(text) > len(longest) {
			longest = text
		}
	}
	return longest
}

// before reports whether a claim comes before another for a path that both take:
// plain paths before patterns, exact ones before prefixes, the longer, the older.
func (r *reading) before(other *reading, path string) bool {
	order := cmp.Compare(r.rank(), other.rank())
	switch {
	case order != 0:
	case r.pattern:
		order = cmp.Or(cmp.Compare(len(other.Path), len(r.Path)), strings.Compare(other.Path, r.Path), cmp.Compare(other.exactness(), r.exactness()))
	default:
		order = cmp.Or(cmp.Compare(len(strings.TrimSuffix(other.asText(path), "/")), len(strings.TrimSuffix(r.asText(path), "/"))), compareMatches(r.Match, other.Match))
	}
	return cmp.Or(order, cmp.Compare(r.age, other.age)) < 0
}

func (r *reading) rank() int {
	switch {
	case r.pattern:
		return 2
	case r.exact:
		return 0
	}
	return 1
}

func (r *reading) exactness() int {
	if r.exact {
		return 1
	}
	return 0
}

// plainTexts gives the paths of requests that a path means as plain text. Where an
// escape is bad there are two: decoded as far as it can be, and as it is written.
func plainTexts(written string) []string {
	var decoded []byte
	bad := false
	for i := 0; i < len(written); i++ {
		if written[i] == '%' {
			if i+2 < len(written) && hex(written[i+1]) >= 0 && hex(written[i+2]) >= 0 {
				decoded = append(decoded, byte(hex(written[i+1])<<4|hex(written[i+2])))
				i += 2
				continue
			}
			bad = true
		}
		decoded = append(decoded, written[i])
	}
	texts := []string{clean(string(decoded))}
	if other := clean(written); bad && other != texts[0] {
		texts = append(texts, other)
	}
	return texts
}

// hex gives the value of a hexadecimal digit, -1 for another character.
func hex(c byte) int { return strings.IndexByte("0123456789abcdef", lowered(c)) }

// clean takes out of a path what nginx takes out of that of a request.
func clean(path string) string {
	var kept []string
	parts := strings.Split(path, "/")
	for _, part := range parts {
		switch part {
		case "", ".":
		case "..":
			if len(kept) > 0 {
				kept = kept[:len(kept)-1]
			}
		default:
			kept = append(kept, part)
		}
	}
	out := "/" + strings.Join(kept, "/")
	if last := parts[len(parts)-1]; out != "/" && (last == "" || last == "." || last == "..") {
		out += "/"
	}
	return out
}

// special are the characters that mean something in a pattern.
const special = `\.[](){}|*+?^$`

// startOf gives the literal text that a pattern, or the first of its choices, begins
// with, in lower case.
func startOf(pattern string) string {
	end := strings.IndexFunc(pattern, func(r rune) bool { return r < ' ' || strings.ContainsRune(special, r) })
	if end < 0 {
		return lower(pattern)
	}
	if end > 0 && strings.IndexByte("*?{", pattern[end]) >= 0 {
		end--
	}
	return lower(pattern[:end])
}

// sureStart is what all that a pattern matches begins with.
func sureStart(pattern string) string {
	if strings.Contains(pattern, "|") {
		return ""
	}
	return startOf(pattern)
}

// lower is what PCRE takes as the same in either case: ASCII letters only.
func lower(text string) string {
	out := []byte(text)
	for i, c := range out {
		out[i] = lowered(c)
	}
	return string(out)
}

func lowered(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}
