package tokens

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const alphanumeric = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

var (
	// wordBytes have no meaning for nginx's tokeniser anywhere in a token.
	wordBytes = bytesOf(alphanumeric + "_.:/@=+*,~^%!?&<>|()[]-")
	partBytes = bytesOf(alphanumeric + "_.:/-")
	hostBytes = bytesOf("abcdefghijklmnopqrstuvwxyz0123456789.-_")
	NameBytes = bytesOf("abcdefghijklmnopqrstuvwxyz0123456789-_")
	PathBytes = bytesOf(alphanumeric + "_./@+=:,~-")
)

// PrintWord prints a token without quotes.
func PrintWord(s string) (string, error) {
	if !wordBytes.Holds(s) {
		return "", &Refusal{Want: "one word of letters, digits and " + `_.:/@=+*,~^%!?&<>|()[]-`, Got: s}
	}
	return limit(s, s)
}

// printPart prints a piece of a word. No byte of it changes the meaning of the rest.
func printPart(s string) (string, error) {
	if !partBytes.Holds(s) {
		return "", &Refusal{Want: "a part of a word: letters, digits and _.:/-", Got: s}
	}
	return limit(s, s)
}

// PrintHost prints a server name. Quotes would not make it safe: nginx reads "~..." as a
// regular expression and ".name" as a wildcard even in quotes.
// Source: https://nginx.org/en/docs/http/server_names.html
func PrintHost(s string) (string, error) {
	name := strings.TrimPrefix(s, "*.")
	if !hostBytes.Holds(name) || len(s) > 253 || name[0] == '.' || name[len(name)-1] == '.' || strings.Contains(name, "..") {
		return "", &Refusal{Want: `a DNS name in lower case, or "*." and a DNS name`, Got: s}
	}
	return s, nil
}

// printAlias prints a further server name: one of printHost, one that ends with ".*", or
// "~" and a regular expression. Named groups are refused, because they set variables.
func printAlias(value any) (string, error) {
	if pattern, ok := value.(Limited); ok {
		if _, err := printAlias("~" + pattern.Text); err != nil {
			return "", err
		}
		pattern.before = "~" + pattern.before
		return pattern.quote()
	}
	s, err := Text(value)
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
		if _, err := PrintHost(beginning); err != nil {
			return "", err
		}
		return limit(s, s)
	}
	return PrintHost(s)
}

// printOneLabel prints a regular expression for the names of a wildcard host such as
// "*.shop.example", with one label for the "*".
func printOneLabel(s string) (string, error) {
	host, err := PrintHost(s)
	if err != nil {
		return "", err
	}
	if !strings.HasPrefix(host, "*.") {
		return "", &Refusal{Want: `"*." and a DNS name`, Got: host}
	}
	return quote("~" + LabelPattern(host))
}

// LabelPattern matches the names that a wildcard host of Kubernetes stands for.
func LabelPattern(host string) string {
	return `^[^.]+` + strings.ReplaceAll(host[1:], ".", `\.`) + "$"
}

// sizes and times are those of nginx's syntax, with numbers that fit its arithmetic.
// Source: https://nginx.org/en/docs/syntax.html
var (
	sizes = regexp.MustCompile(`^[0-9]{1,10}[kKmMgG]?$`)
	times = regexp.MustCompile(`^([0-9]{1,10}d)?([0-9]{1,10}h)?([0-9]{1,10}m)?([0-9]{1,10}s)?([0-9]{1,10}ms)?$|^[0-9]{1,10}$`)
)

// printSize prints a number of bytes.
func printSize(s string) (string, error) {
	if !sizes.MatchString(s) {
		return "", &Refusal{Want: "a size such as 512, 8k, 10m or 1g", Got: s}
	}
	return s, nil
}

// printDuration prints a time. A time.Duration with a part of a second is printed in
// milliseconds.
func printDuration(value any) (string, error) {
	if d, ok := value.(time.Duration); ok {
		return printTime(d)
	}
	s, err := Text(value)
	if err != nil {
		return "", err
	}
	_, err = strconv.Atoi(s)
	switch {
	case s == "" || !times.MatchString(s):
		return "", &Refusal{Want: "a time such as 500ms, 60s, 10m or 1h", Got: s}
	case err == nil:
		return s + "s", nil
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

// printPath prints the absolute path of a file, with quotes if necessary.
func printPath(s string) (string, error) {
	if !strings.HasPrefix(s, "/") || strings.Contains(s+"/", "/../") {
		return "", &Refusal{Want: "an absolute path without ..", Got: s}
	}
	if PathBytes.Holds(s) {
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
