package render

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

const alphanumeric = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

var (
	// wordBytes mean nothing to nginx's tokeniser, wherever in a token they are.
	wordBytes = bytesOf(alphanumeric + "_.:/@=+*,~^%!?&<>|()[]-")
	partBytes = bytesOf(alphanumeric + "_.:/-")
	hostBytes = bytesOf("abcdefghijklmnopqrstuvwxyz0123456789.-_")
	nameBytes = bytesOf("abcdefghijklmnopqrstuvwxyz0123456789-_")
	pathBytes = bytesOf(alphanumeric + "_./@+=:,~-")
)

// printWord prints a token that needs no quotes.
func printWord(value any) (string, error) {
	s, err := text(value)
	if err != nil {
		return "", err
	}
	if !wordBytes.holds(s) {
		return "", &Refusal{Want: "one word of letters, digits and " + `_.:/@=+*,~^%!?&<>|()[]-`, Got: s}
	}
	return limit(s, s)
}

// printPart prints a piece of a word: it has no byte that could change what the
// rest of the word means.
func printPart(value any) (string, error) {
	s, err := text(value)
	if err != nil {
		return "", err
	}
	if !partBytes.holds(s) {
		return "", &Refusal{Want: "a part of a word: letters, digits and _.:/-", Got: s}
	}
	return limit(s, s)
}

// printHost prints a server name. Quotes would not help here: nginx reads
// "~..." as a regular expression and ".name" as a wildcard, quoted or not.
// Source: https://nginx.org/en/docs/http/server_names.html
func printHost(value any) (string, error) {
	s, err := text(value)
	if err != nil {
		return "", err
	}
	name := strings.TrimPrefix(s, "*.")
	if !hostBytes.holds(name) || len(s) > 253 || name[0] == '.' || name[len(name)-1] == '.' || strings.Contains(name, "..") {
		return "", &Refusal{Want: `a DNS name in lower case, or "*." and a DNS name`, Got: s}
	}
	return s, nil
}

// printAlias prints a further server name: one that printHost takes, one with
// ".*" at its end, or "~" and a regular expression without named groups, which
// would set variables.
func printAlias(value any) (string, error) {
	if pattern, ok := value.(limited); ok {
		if _, err := printAlias("~" + pattern.text); err != nil {
			return "", err
		}
		pattern.before = "~" + pattern.before
		return pattern.quote()
	}
	s, err := text(value)
	if err != nil {
		return "", err
	}
	pattern, ok := strings.CutPrefix(s, "~")
	switch {
	case ok && (pattern == "" || strings.Contains(pattern, "(?<") || strings.Contains(pattern, "(?P<") || strings.Contains(pattern, "(?'")):
		return "", &Refusal{Want: "a regular expression without named groups", Got: s}
	case ok:
		return quote(s)
	}
	beginning, tail := strings.CutSuffix(s, ".*")
	if tail && !strings.HasPrefix(s, "*.") {
		if _, err := printHost(beginning); err != nil {
			return "", err
		}
		return limit(s, s)
	}
	return printHost(value)
}

// printOneLabel prints the server name that has exactly the names of a wildcard
// host such as "*.shop.example": a regular expression.
func printOneLabel(value any) (string, error) {
	host, err := printHost(value)
	if err != nil {
		return "", err
	}
	if !strings.HasPrefix(host, "*.") {
		return "", &Refusal{Want: `"*." and a DNS name`, Got: host}
	}
	return quote("~" + labelPattern(host))
}

// printSize prints a number of bytes.
// Source: https://nginx.org/en/docs/syntax.html
func printSize(value any) (string, error) {
	s, err := text(value)
	if err != nil {
		return "", err
	}
	digits := strings.TrimRight(s, "kKmMgG")
	if !number(digits) || len(s)-len(digits) > 1 {
		return "", &Refusal{Want: "a size such as 512, 8k, 10m or 1g", Got: s}
	}
	return s, nil
}

// printDuration prints a time, in milliseconds if it is a time.Duration that
// is no whole number of seconds.
// Source: https://nginx.org/en/docs/syntax.html
func printDuration(value any) (string, error) {
	if d, ok := value.(time.Duration); ok {
		return printTime(d)
	}
	s, err := text(value)
	if err != nil {
		return "", err
	}
	if number(s) {
		return s + "s", nil
	}
	if !timeSpan(s) {
		return "", &Refusal{Want: "a time such as 500ms, 60s, 10m or 1h", Got: s}
	}
	return s, nil
}

func printTime(d time.Duration) (string, error) {
	if d < 0 {
		return "", &Refusal{Want: "a time that is not negative", Got: d.String()}
	}
	if d%time.Second == 0 {
		return strconv.FormatInt(int64(d/time.Second), 10) + "s", nil
	}
	return strconv.FormatInt(d.Milliseconds(), 10) + "ms", nil
}

// timeSpan reports whether s is numbers with units, the larger units first.
func timeSpan(s string) bool {
	for _, unit := range []string{"d", "h", "m", "s", "ms"} {
		digits, rest, found := strings.Cut(s, unit)
		if found && number(digits) && (unit != "m" || !strings.HasPrefix(rest, "s")) {
			if s = rest; s == "" {
				return true
			}
		}
	}
	return false
}

// number reports whether s is a whole number that fits nginx's arithmetic.
func number(s string) bool {
	if s == "" || len(s) > 10 {
		return false
	}
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// printPath prints the absolute path of a file, in quotes if it needs them.
func printPath(value any) (string, error) {
	s, err := text(value)
	if err != nil {
		return "", err
	}
	if !strings.HasPrefix(s, "/") || strings.Contains(s+"/", "/../") {
		return "", &Refusal{Want: "an absolute path without ..", Got: s}
	}
	if pathBytes.holds(s) {
		return limit(s, s)
	}
	return printStr(s)
}

// printOnOff prints nginx's words for true and false.
func printOnOff(value any) (string, error) {
	on, ok := value.(bool)
	if !ok {
		return "", &Refusal{Want: "true or false", Got: fmt.Sprint(value)}
	}
	if on {
		return "on", nil
	}
	return "off", nil
}
