package compare

import (
	"strings"

	"sluice/internal/model"
	"sluice/internal/nearby"
	"sluice/internal/pcre"
)

// path makes the requests for a path and near it, and returns the target that the path has.
// location is that of a path that is a pattern, nil for others.
func (m *maker) path(s site, location *model.Location, path string) string {
	if path == "" {
		path = "/"
	}
	if location != nil {
		if target := m.pattern(s, location); target != "" {
			return target
		}
	}
	target := escaped(path)
	m.written(s, target, "the path as it is written")
	m.edges(s, target)
	return target
}

// written makes the requests for a path as it is written, by each method and scheme.
func (m *maker) written(s site, target, why string) {
	m.inAllSchemes(roundWritten, s.request(target, why))
	for _, method := range m.asked.Methods {
		r := s.request(target, why)
		r.Method = method
		m.add(roundNear, r)
	}
}

// edge makes another path of one.
type edge struct {
	round int
	why   string
	of    func(target string) string
}

// edges are the requests near a path. A text that is empty or equals the path is left out.
var edges = []edge{
	{roundSlash, "a slash more", func(t string) string { return trimmed(t) + "/" }},
	{roundSlash, "a slash less", trimmed},
	{roundSlash, "a segment more", func(t string) string { return trimmed(t) + "/" + stranger }},
	{roundSlash, "a letter more", func(t string) string { return trimmed(t) + "x" }},
	{roundNear, "a letter less", func(t string) string { return trimmed(t)[:max(len(trimmed(t))-1, 0)] }},
	{roundNear, "in the other case", nearby.SwapCase},
	{roundSlash, "with a query", func(t string) string { return t + "?a=b&c=%2F+d" }},
	{roundFar, "with a percent-encoded letter", encodedLetter},
	{roundFar, "with a percent-encoded slash", func(t string) string { return lastSlash(t, "%2F") }},
	{roundFar, "with a percent-encoded slash behind it", func(t string) string { return t + "%2f" + stranger }},
	{roundFar, "with a double slash", func(t string) string { return lastSlash(t, "//") }},
	{roundFar, "with a double slash at the beginning", func(t string) string { return nearby.ReplaceSlash(t, 0, "//") }},
	{roundFar, "with a double slash behind it", func(t string) string { return trimmed(t) + "//" + stranger }},
	{roundFar, "with dot segments", func(t string) string { return lastSlash(t, "/x/../") }},
	{roundFar, "with dot segments behind it", func(t string) string { return trimmed(t) + "/x/../." }},
	{roundFar, "with percent-encoded dots behind it", func(t string) string { return trimmed(t) + "/x/%2e%2e/" }},
	{roundFar, "with a parameter", func(t string) string { return t + ";x=y" }},
	{roundFar, "with a space behind it", func(t string) string { return t + "%20" }},
}

// edges makes the requests near a path.
func (m *maker) edges(s site, target string) {
	for _, e := range edges {
		near := e.of(target)
		if near == "" || near == target || near[0] != '/' {
			continue
		}
		if e.round == roundSlash {
			m.inAllSchemes(e.round, s.request(near, e.why))
		} else {
			m.add(e.round, s.request(near, e.why))
		}
	}
}

func trimmed(target string) string { return strings.TrimRight(target, "/") }

func lastSlash(target, instead string) string {
	return nearby.ReplaceSlash(target, nearby.Slashes(target)-1, instead)
}

// encodedLetter escapes the last letter of a path.
func encodedLetter(target string) string {
	last := strings.LastIndexFunc(target, func(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' })
	if strings.Contains(target, "%") {
		return ""
	}
	return nearby.EscapedAt(target, "%%%02x", func(i int) bool { return i == last })
}

// escaped returns a text as a path or query has it. Percent escapes stay.
func escaped(text string) string {
	return nearby.EscapedAt(text, "%%%02X", func(i int) bool {
		return text[i] <= ' ' || text[i] >= 0x7f || text[i] == '?' || text[i] == '#'
	})
}

const (
	// mostMatching is how many texts that match a pattern are asked.
	mostMatching = 4
	// mostTries is how many texts are tried to find them.
	mostTries = 40
)

// pattern makes requests that a pattern matches, and others that it nearly matches. It returns
// the first that matches, "" if it finds none.
func (m *maker) pattern(s site, location *model.Location) string {
	texts := m.examples(location.Path, mostMatching)
	compiled, err := pcre.Compile(location.Path, pcre.Caseless)
	if len(texts) == 0 || err != nil {
		return ""
	}
	for i, text := range texts {
		target := encodedText(text)
		m.written(s, target, "a path that the pattern matches")
		if i == 0 {
			m.edges(s, target)
		}
		for _, suffix := range []string{"", "/", "x", "/" + stranger} {
			m.near(s, compiled, text[:len(text)-1]+suffix)
		}
		m.near(s, compiled, nearby.SwapCase(text))
	}
	return encodedText(texts[0])
}

// near makes a request for a text that a pattern may match.
func (m *maker) near(s site, compiled *pcre.Pattern, text string) {
	if !strings.HasPrefix(text, "/") {
		return
	}
	why := "a path that the pattern nearly matches"
	if _, matches, err := compiled.Match(text); matches && err == nil {
		why = "another path that the pattern matches"
	}
	m.add(roundNear, s.request(encodedText(text), why))
}

// encodedText returns the path that nginx decodes to a text.
func encodedText(text string) string {
	return escaped(nearby.Escaped(text, "%"))
}

// examples returns different texts that a pattern matches, in its case, or may match if package
// pcre cannot tell.
func (m *maker) examples(pattern string, most int) (texts []string) {
	compiled, err := pcre.Compile(pattern, 0)
	if err != nil {
		return nil
	}
	seen := map[string]bool{}
	for range mostTries {
		text := compiled.Example(m.choices.choose)
		if _, matches, err := compiled.Match(text); text == "" || seen[text] || !matches && err == nil {
			continue
		}
		seen[text] = true
		if texts = append(texts, text); len(texts) == most {
			break
		}
	}
	return texts
}

// choices is a sequence of numbers that depends on the seed only (SplitMix64).
type choices uint64

// choose returns a number from 0 to n-1.
func (c *choices) choose(n int) int {
	*c += 0x9e3779b97f4a7c15
	z := uint64(*c)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int((z ^ z>>31) % uint64(n))
}
