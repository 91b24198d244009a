package render

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"sluice/internal/pcre"
)

// limited is a user's regular expression as nginx gets it: what stands before and
// after it keeps one request from holding a worker, and changes nothing of what it
// matches. nginx answers 500 where a limit is reached, and tries no other location.
type limited struct{ before, text, after string }

const (
	// mostJIT is the size up to which a pattern with counted groups is compiled to
	// machine code, which may take twenty times as much.
	mostJIT = 4000
	// withoutJIT is for larger ones. Without machine code the way back is on the
	// heap, in kilobytes here, which a worker keeps.
	withoutJIT = "(*NO_JIT)(*LIMIT_HEAP=8192)"
	// fewReferences is how many references to groups a pattern may have for the
	// whole limit: PCRE2 does not count what it compares for them.
	fewReferences = 8
)

var (
	countedGroup = regexp.MustCompile(`(?:\)|\\E)\{`)
	backward     = regexp.MustCompile(`\\[1-9]`)
	// verbs are what limitPattern writes.
	verbs = regexp.MustCompile(`\(\*(?:LIMIT_MATCH=[0-9]+|LIMIT_HEAP=[0-9]+|NO_JIT)\)`)
)

// limitPattern gives a pattern its limits. PCRE2 counts anew for each place where
// a match may begin, so that one that may begin anywhere is made to begin at the
// start, behind as little as it takes to get to its first match.
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

// WithoutLimits takes the limits of patterns off a text of nginx.
func WithoutLimits(text string) string {
	if !strings.Contains(text, "(*") {
		return text
	}
	return verbs.ReplaceAllString(text, "")
}

// quote writes the pattern as one token. A user's part is as long as any other
// token may be; what is added to it still fits nginx's buffer.
func (l limited) quote() (string, error) {
	quoted, err := quote(l.text)
	if err != nil {
		return "", err
	}
	return `"` + l.before + quoted[1:len(quoted)-1] + l.after + `"`, nil
}
