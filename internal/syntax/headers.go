package syntax

import (
	"regexp"
	"strings"
)

// The letters of names of headers. nginx drops headers of requests with "_" by default, and
// some clients and servers do.
const (
	HeaderLetter        = `[A-Za-z0-9_-]`
	RequestHeaderLetter = `[A-Za-z0-9-]`
)

// LongestHeaderName is the longest name that a bucket of nginx's hash table of headers holds.
const LongestHeaderName = 46

// LongestHeaderValue leaves room in a token of nginx.conf for an escape in front of each
// character.
const LongestHeaderValue = 1900

var (
	headerName  = regexp.MustCompile(`^` + HeaderLetter + `+$`)
	headerValue = regexp.MustCompile(`^[ -~]*$`)
)

// IsHeaderName reports whether a text of at most so many bytes is the name of a header.
func IsHeaderName(name string, most int) bool {
	return len(name) <= most && headerName.MatchString(name)
}

// IsRequestHeaderName is IsHeaderName for headers of requests.
func IsRequestHeaderName(name string, most int) bool {
	return IsHeaderName(name, most) && !strings.Contains(name, "_")
}

// IsHeaderValue reports whether a text can be the value of a header: printable ASCII.
func IsHeaderValue(value string) bool { return headerValue.MatchString(value) }

// PrintedLength is the length of a text in which each $ is printed as a variable.
func PrintedLength(text string) int { return len(text) + 15*strings.Count(text, "$") }
