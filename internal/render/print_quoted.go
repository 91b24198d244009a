package render

import "strings"

// quote writes s as one token in double quotes.
func quote(s string) (string, error) {
	if err := check(s); err != nil {
		return "", err
	}
	if !strings.ContainsAny(s, `\"`) {
		return limit(`"`+s+`"`, s)
	}
	var out strings.Builder
	out.WriteByte('"')
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' || s[i] == '"' {
			out.WriteByte('\\')
		}
		out.WriteByte(s[i])
	}
	out.WriteByte('"')
	return limit(out.String(), s)
}

// printLiteral prints a token whose $ stands for itself, as the path of a
// location.
func printLiteral(value any) (string, error) {
	if pattern, ok := value.(limited); ok {
		return pattern.quote()
	}
	s, err := text(value)
	if err != nil {
		return "", err
	}
	return quote(s)
}

// printRegex prints a regular expression. nginx compiles it, so that what does
// not compile is found by its test and not here.
func printRegex(value any) (string, error) {
	if pattern, ok := value.(limited); ok {
		return pattern.quote()
	}
	s, err := text(value)
	if err != nil {
		return "", err
	}
	if s == "" {
		return "", &Refusal{Want: "a regular expression", Got: s}
	}
	return quote(s)
}

// printStr prints a token without variables. nginx has no escape for $ where it
// reads variables, so that a value with one cannot be written.
func printStr(value any) (string, error) {
	s, err := text(value)
	if err != nil {
		return "", err
	}
	if strings.Contains(s, "$") {
		return "", &Refusal{Want: "text without $", Got: s}
	}
	return quote(s)
}

// literalDollar is how a $ is written where nginx reads variables: it has no
// escape for it. templates/request.tmpl defines the variable.
const literalDollar = "${literal_dollar}"

// printVerbatim prints a token that nginx reads as it is, each $ too, where it
// reads variables.
func printVerbatim(value any) (string, error) {
	s, err := text(value)
	if err != nil {
		return "", err
	}
	return quote(strings.ReplaceAll(s, "$", literalDollar))
}

// printMapKey prints the value that a map or geo block compares with. A "~"
// would start a pattern although it is quoted, some words are parameters, and a
// leading backslash is what nginx takes off again.
// Source: https://nginx.org/en/docs/http/ngx_http_map_module.html#map
func printMapKey(value any) (string, error) {
	s, err := text(value)
	if err != nil {
		return "", err
	}
	if mapSpecial(s) {
		s = `\` + s
	}
	return quote(s)
}

// printMapPattern prints a pattern that a map compares with. It respects case.
func printMapPattern(value any) (string, error) {
	pattern, ok := value.(limited)
	if !ok {
		return "", &Refusal{Want: "a pattern with its limits"}
	}
	pattern.before = "~" + pattern.before
	return pattern.quote()
}

func mapSpecial(s string) bool {
	switch s {
	case "default", "hostnames", "include", "volatile":
		return true
	}
	return strings.HasPrefix(s, "~") || strings.HasPrefix(s, `\`)
}
