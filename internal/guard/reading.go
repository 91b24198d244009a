package guard

import (
	"cmp"
	"path"
	"strings"

	"sluice/internal/pcre"
)

// reading is a claim with the interpretation of its path.
type reading struct {
	*Claim
	// age is its index among the claims.
	age   int
	exact bool
	// pattern is set if nginx tries the path as a pattern; asked if its author wrote
	// it as one.
	pattern, asked bool
	// texts are the possible meanings of the path as plain text.
	texts []string
	// compiled is the path as a pattern; nil if it is none, or cannot be evaluated.
	compiled *pcre.Pattern
	// start is the literal beginning of a pattern in lower case. sure is the part of
	// it that every match begins with.
	start, sure string
}

func read(c *Claim, turned bool) *reading {
	plain := c.PathType == "Exact" || c.PathType == "Prefix"
	r := &reading{Claim: c, exact: c.PathType == "Exact", pattern: turned || c.Pattern && !plain}
	r.asked = r.pattern && c.Pattern && !c.Redirect && !r.isExactRoot()
	r.texts = plainTexts(c.Path)
	if r.pattern && !c.Redirect && !r.isExactRoot() && !turnedPlain(c, turned) {
		r.compiled, _ = pcre.Compile("^"+c.Path, pcre.Caseless)
		r.start, r.sure = startOf(c.Path), sureStart(c.Path)
	}
	return r
}

// exactPaths returns the Exact paths of a host, as written.
func exactPaths(asked Asked) map[string]bool {
	exact := map[string]bool{}
	for _, c := range asked.Claims {
		if c.PathType == "Exact" && c.Match.Any() && !c.Redirect {
			exact[c.Path] = true
		}
	}
	return exact
}

// leaveToExact makes a Prefix /foo take only what begins with /foo/, as it does beside an
// Exact /foo on a host of patterns unless it asks for patterns itself.
func (r *reading) leaveToExact() {
	if r.PathType != "Prefix" || r.Own || r.Redirect || strings.HasSuffix(r.Path, "/") {
		return
	}
	for i := range r.texts {
		r.texts[i] = stem(r.texts[i]) + "/"
	}
	if r.compiled != nil {
		r.compiled, _ = pcre.Compile("^"+r.Path+"/", pcre.Caseless)
	}
}

// turnedPlain reports whether a path became a pattern only because its host was
// turned, and contains no special characters.
func turnedPlain(c *Claim, turned bool) bool {
	return turned && !c.Pattern && !strings.ContainsAny(c.Path, special+"%")
}

// takes reports whether the claim certainly takes a request.
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
	return ok && err == nil && (!strings.Contains(r.Path, "%") || r.asText(path) != "")
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

// isExactRoot reports whether a claim takes / alone on a host of patterns.
func (r *reading) isExactRoot() bool { return r.pattern && r.exact && r.Path == "/" && !r.Redirect }

// asText returns the longest text with which a claim takes a path, "" for none.
func (r *reading) asText(path string) string {
	longest := ""
	for _, text := range r.texts {
		var ok bool
		switch {
		case r.pattern && r.Redirect && r.exact:
			ok = lower(path) == lower(text)
		case r.isExactRoot():
			ok = path == text
		case r.pattern && r.Redirect:
			ok = strings.HasPrefix(lower(path)+"/", lower(stem(text))+"/")
		case r.pattern:
			ok = strings.HasPrefix(lower(path), lower(text))
		case r.exact:
			ok = path == text
		default:
			ok = path == stem(text) || strings.HasPrefix(path, stem(text)+"/")
		}
		if ok && len(text) > len(longest) {
			longest = text
		}
	}
	return longest
}

// before reports whether a claim wins over another for a path that both take: plain
// paths before patterns, exact ones before prefixes, then the longer one, then the
// older one.
func (r *reading) before(other *reading, path string) bool {
	order := cmp.Compare(r.rank(), other.rank())
	switch {
	case order != 0:
	case r.pattern:
		order = cmp.Or(cmp.Compare(len(other.Path), len(r.Path)), strings.Compare(other.Path, r.Path))
	default:
		order = cmp.Or(cmp.Compare(len(stem(other.asText(path))), len(stem(r.asText(path)))), compareMatches(r.Match, other.Match))
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

// plainTexts returns the request paths that a plain-text path stands for. A bad
// escape has two: decoded as far as possible, and as written.
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

// hex returns the value of a hexadecimal digit, -1 for another character.
func hex(c byte) int { return strings.IndexByte("0123456789abcdef", lowered(c)) }

// clean normalises a path as nginx does it with that of a request.
func clean(written string) string {
	cleaned := path.Clean("/" + written)
	if last := written[strings.LastIndexByte(written, '/')+1:]; cleaned != "/" && (last == "" || last == "." || last == "..") {
		cleaned += "/"
	}
	return cleaned
}

// special are the characters with a meaning in patterns.
const special = `\.[](){}|*+?^$`

// startOf returns the literal beginning of a pattern, or of its first alternative, in
// lower case.
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

// sureStart returns the text that every match of a pattern begins with.
func sureStart(pattern string) string {
	if strings.Contains(pattern, "|") {
		return ""
	}
	return startOf(pattern)
}

// lower converts to lower case like PCRE: ASCII letters only.
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
