package tokens

import (
	"strings"

	"sluice/internal/pcre"
)

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

// printLines prints lines of headers as one token with line ends. Only Go makes them: a
// value of an object must not be among them.
func printLines(value any) (string, error) {
	lines, ok := value.([]string)
	if !ok || len(lines) == 0 {
		return "", &Refusal{Want: "lines of headers"}
	}
	for _, line := range lines {
		if err := check(line); err != nil {
			return "", err
		}
		if strings.ContainsAny(line, "\\\"") {
			return "", &Refusal{Want: `text without \ and "`, Got: line}
		}
	}
	all := strings.Join(lines, `\r\n`)
	return limit(`"`+all+`"`, all)
}

// printRules prints lines as one token with line ends, where nginx reads no variables.
func printRules(value any) (string, error) {
	lines, ok := value.([]string)
	if !ok || len(lines) == 0 {
		return "", &Refusal{Want: "lines of rules"}
	}
	all := make([]string, len(lines))
	for i, line := range lines {
		quoted, err := quote(line)
		if err != nil {
			return "", err
		}
		all[i] = strings.TrimSuffix(strings.TrimPrefix(quoted, `"`), `"`)
	}
	return limit(`"`+strings.Join(all, `\n`)+`"`, lines[0])
}

// printLiteral prints a token where nginx reads no variables: the path of a location.
func printLiteral(value any) (string, error) {
	if pattern, ok := value.(Limited); ok {
		return pattern.quote()
	}
	return OfText(quote)(value)
}

// printRegex prints a regular expression. nginx -t finds one that does not compile.
func printRegex(value any) (string, error) {
	if pattern, ok := value.(Limited); ok {
		return pattern.quote()
	}
	return OfText(func(s string) (string, error) {
		if s == "" {
			return "", &Refusal{Want: "a regular expression", Got: s}
		}
		return quote(s)
	})(value)
}

// printBounded prints a regular expression with limits: those of a value that has its own,
// or those of names.
func printBounded(value any) (string, error) {
	if own, ok := value.(interface{ Bounds() (string, int) }); ok {
		pattern, steps := own.Bounds()
		return LimitPattern(pattern, steps).quote()
	}
	return OfText(func(s string) (string, error) {
		if s == "" {
			return "", &Refusal{Want: "a regular expression", Got: s}
		}
		return LimitPattern(s, pcre.NameSteps).quote()
	})(value)
}

// printStr prints a token without variables. It refuses $, for which nginx has no escape.
func printStr(s string) (string, error) {
	if strings.Contains(s, "$") {
		return "", &Refusal{Want: "text without $", Got: s}
	}
	return quote(s)
}

// LiteralDollar stands for a $ where nginx reads variables, as it has no escape for one.
// templates/request.tmpl defines the variable.
const LiteralDollar = "${literal_dollar}"

// printVerbatim prints a token unchanged where nginx reads variables, including each $.
func printVerbatim(s string) (string, error) {
	return quote(strings.ReplaceAll(s, "$", LiteralDollar))
}

// printMapKey prints a key of a map or geo block. nginx reads "~" as the beginning of a
// pattern, even in quotes, and some words as parameters. A leading backslash, which
// nginx removes, prevents both.
// Source: https://nginx.org/en/docs/http/ngx_http_map_module.html#map
func printMapKey(s string) (string, error) {
	if mapSpecial(s) {
		s = `\` + s
	}
	return quote(s)
}

// printMapPattern prints a pattern of a map block, which respects case.
func printMapPattern(value any) (string, error) {
	pattern, ok := value.(Limited)
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
