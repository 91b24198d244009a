package tokens

import (
	"regexp"
	"strings"

	"sluice/internal/pcre"
)

// Limited is a user's regular expression with limits before and after it, so that one
// request cannot hold a worker. They do not change what it matches. At a limit nginx
// returns 500, and tries no other location.
type Limited struct{ before, Text, after string }

// verbs match the limits of pcre.Limit.
var verbs = regexp.MustCompile(`\(\*(?:LIMIT_MATCH=[0-9]+|LIMIT_HEAP=[0-9]+|NO_JIT)\)|\?<p_[1-9]>`)

// LimitPattern adds limits to a pattern; most is the limit of steps.
func LimitPattern(pattern string, most int) Limited {
	before, after := pcre.Limit(pattern, most)
	return Limited{before, pattern, after}
}

// WithoutLimits removes the limits of patterns, and the names that pcre.NameGroups gives,
// from a message of nginx.
func WithoutLimits(text string) string {
	if !strings.Contains(text, "(*") {
		return text
	}
	return verbs.ReplaceAllString(text, "")
}

// quote writes the pattern as one token. Only the user's part counts for the limit of a
// token; nginx's buffer also has room for the rest.
func (l Limited) quote() (string, error) {
	quoted, err := quote(l.Text)
	if err != nil {
		return "", err
	}
	return `"` + l.before + quoted[1:len(quoted)-1] + l.after + `"`, nil
}
