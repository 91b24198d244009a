package render

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"sluice/internal/pcre"
)

// limited is a user's regular expression with limits before and after it, so that one
// request cannot hold a worker. They do not change what it matches. At a limit nginx
// returns 500, and tries no other location.
type limited struct{ before, text, after string }

const (
	// mostJIT is the largest pattern with counted groups that becomes machine code,
	// which may take twenty times as much memory.
	mostJIT = 4000
	// withoutJIT is for larger ones. Without machine code, PCRE2 backtracks on the
	// heap, limited here in kilobytes; a worker keeps that memory.
	withoutJIT = "(*NO_JIT)(*LIMIT_HEAP=8192)"
	// fewReferences is the number of references to groups for which a pattern loses a
	// part of its limit: PCRE2 does not count their comparisons.
	fewReferences = 8
)

var (
	countedGroup = regexp.MustCompile(`(?:\)|\\E)\{`)
	backward     = regexp.MustCompile(`\\[1-9]`)
	// verbs match the limits of limitPattern.
	verbs = regexp.MustCompile(`\(\*(?:LIMIT_MATCH=[0-9]+|LIMIT_HEAP=[0-9]+|NO_JIT)\)`)
)

// limitPattern adds limits to a pattern; most is the limit of steps. PCRE2 counts anew
// from each place where a match may begin. So a pattern without an anchor gets one, and
// lazily skips the text before its first match.
// Source: pcre2pattern(3), "Setting match resource limits"
func limitPattern(pattern string, most int) limited {
	l := limited{text: pattern}
	shape, err := pcre.ShapeOf(pattern)
	if countedGroup.MatchString(pattern) && (err != nil || shape.Size > mostJIT) {
		l.before = withoutJIT
	}
	most /= 1 + len(backward.FindAllStringIndex(pattern, -1))/fewReferences
	l.before += "(*LIMIT_MATCH=" + strconv.Itoa(most) + ")"
	if !shape.Anchored && (err == nil || errors.Is(err, pcre.ErrUnsupported) && pcre.Balanced(pattern)) {
		l.before, l.after = l.before+"^(?s:.*?)(?:", ")"
	}
	return l
}

// WithoutLimits removes the limits of patterns from a message of nginx.
func WithoutLimits(text string) string {
	if !strings.Contains(text, "(*") {
		return text
	}
	return verbs.ReplaceAllString(text, "")
}

// quote writes the pattern as one token. Only the user's part counts for the limit of a
// token; nginx's buffer also has room for the rest.
func (l limited) quote() (string, error) {
	quoted, err := quote(l.text)
	if err != nil {
		return "", err
	}
	return `"` + l.before + quoted[1:len(quoted)-1] + l.after + `"`, nil
}
