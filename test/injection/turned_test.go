package injection

import (
	"fmt"
	"regexp"
	"strings"

	"sluice/internal/annotations"
)

// turnedOwn are annotations of Sluice's own, as turned has those of ingress-nginx.
var turnedOwn = map[string]func(value string) []string{
	"request-headers":  headerLine,
	"response-headers": headerLine,
	"match-headers":    wholeHeader,
	"match-query":      wholeParameter,
	"deny-paths":       deniedBeginning,
}

// own is the key of an annotation of Sluice's own, and its value, which is the rest of a
// line if it is that of a path; "" for other places.
func (c hostileCase) own() (key, value string) {
	path, found := strings.CutPrefix(c.place.path, "metadata.annotations["+annotations.OwnPrefix)
	key, isValue := strings.CutSuffix(path, "]")
	if !found || !isValue {
		return "", c.value
	}
	key, ofPath := strings.CutPrefix(key, strings.TrimPrefix(annotations.PathsPrefix, annotations.OwnPrefix))
	_, rest, isLine := strings.Cut(c.value, ": ")
	if ofPath && isLine {
		return key, rest
	}
	return key, c.value
}

// headerLine is the value of a header; its name is a token of HTTP.
func headerLine(line string) []string {
	name, value, _ := strings.Cut(line, ":")
	if !regexp.MustCompile(`^[A-Za-z0-9!#$%&'*+.^_|~-]+$`).MatchString(name) {
		return nil
	}
	return forms(strings.TrimSpace(value))
}

// wholeHeader is the pattern of a whole header.
func wholeHeader(line string) []string {
	var list []string
	for _, form := range headerLine(line) {
		list = append(list, "~^"+form+`\z`, "~^(?:"+form+`)\z`)
	}
	return list
}

// wholeParameter is the pattern of a whole parameter, each byte as it is or encoded.
func wholeParameter(line string) []string {
	_, value, _ := strings.Cut(line, ":")
	var pattern strings.Builder
	for _, b := range []byte(strings.TrimSpace(value)) {
		is := regexp.QuoteMeta(string(rune(b)))
		switch high, low := fmt.Sprintf("%%%02X", b), fmt.Sprintf("%%%X[%X%x]", b>>4, b&15, b&15); {
		case b == ' ':
			pattern.WriteString(`(?:\+|%20)`)
		case 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || strings.IndexByte("-._~", b) >= 0:
			pattern.WriteString(is)
		case b&15 > 9:
			pattern.WriteString("(?:" + is + "|" + low + ")")
		default:
			pattern.WriteString("(?:" + is + "|" + high + ")")
		}
	}
	return []string{"~^" + pattern.String() + `\z`}
}

// deniedBeginning is the pattern of a path, or of one and all below it.
func deniedBeginning(path string) []string {
	path, _, _ = strings.Cut(path, " ")
	return []string{regexp.QuoteMeta(strings.TrimSuffix(path, "*")), path}
}
