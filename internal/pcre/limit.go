package pcre

import (
	"errors"
	"regexp"
	"strconv"
)

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
)

// Limit returns the limits to write before and after a pattern, so that one search cannot
// hold a worker of nginx; most is the limit of steps. They do not change what it matches.
// PCRE2 counts anew from each place where a match may begin. So a pattern without an anchor
// gets one, and lazily skips the text before its first match.
// Source: pcre2pattern(3), "Setting match resource limits"
func Limit(pattern string, most int) (before, after string) {
	shape, err := ShapeOf(pattern)
	if countedGroup.MatchString(pattern) && (err != nil || shape.Size > mostJIT) {
		before = withoutJIT
	}
	most /= 1 + len(backward.FindAllStringIndex(pattern, -1))/fewReferences
	before += "(*LIMIT_MATCH=" + strconv.Itoa(most) + ")"
	if !shape.Anchored && (err == nil || errors.Is(err, ErrUnsupported) && Balanced(pattern)) {
		return before + "^(?s:.*?)(?:", ")"
	}
	return before, ""
}
