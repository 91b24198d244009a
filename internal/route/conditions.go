package route

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"sluice/internal/model"
	"sluice/internal/pcre"
	"sluice/internal/syntax"
)

// mostValue is the maximum length of a condition's value. Its text in nginx.conf is
// at most nine times as long, and has to fit into one token.
const mostValue = model.LongestToken / 10

var methodText = regexp.MustCompile(`^[A-Z]{1,32}$`)

// MatchFault is a field of a Match that nginx cannot check.
type MatchFault struct{ Field, Want, Got string }

// Conditions returns the conditions that nginx checks for a Match, without
// duplicates, or the field that it cannot check.
func Conditions(m model.Match) (conditions []model.Condition, fault *MatchFault) {
	if m.Method != "" {
		if !methodText.MatchString(m.Method) {
			return nil, &MatchFault{"method", "a method in capital letters, such as GET", m.Method}
		}
		conditions = append(conditions, model.Condition{Of: model.OfMethod, Pattern: whole(m.Method)})
	}
	for i, h := range m.Headers {
		if !syntax.IsRequestHeaderName(h.Name, 200) {
			return nil, &MatchFault{fmt.Sprintf("headers[%d].name", i), "a name of at most 200 letters, digits and -", h.Name}
		}
		patterns, want := valuePatterns(h, pcre.Quote)
		if want != "" {
			return nil, &MatchFault{fmt.Sprintf("headers[%d].value", i), want, h.Value}
		}
		for _, pattern := range patterns {
			conditions = append(conditions, model.Condition{Of: model.OfHeader, Name: Lower(h.Name), Pattern: pattern})
		}
	}
	for i, q := range m.Query {
		if q.Name == "" || len(q.Name) > mostValue || strings.ContainsFunc(q.Name, unicode.IsControl) {
			return nil, &MatchFault{fmt.Sprintf("queryParams[%d].name", i), fmt.Sprintf("a name of 1 to %d bytes without control characters", mostValue), q.Name}
		}
		patterns, want := valuePatterns(q, sent)
		if want != "" {
			return nil, &MatchFault{fmt.Sprintf("queryParams[%d].value", i), want, q.Value}
		}
		for _, pattern := range patterns {
			conditions = append(conditions, model.Condition{Of: model.OfQuery, Name: q.Name, Pattern: pattern})
		}
	}
	slices.SortFunc(conditions, compareConditions)
	return slices.Compact(conditions), nil
}

func compareConditions(a, b model.Condition) int {
	return cmp.Or(strings.Compare(string(a.Of), string(b.Of)), strings.Compare(a.Name, b.Name), strings.Compare(a.Pattern, b.Pattern))
}

// whole returns the pattern that matches exactly this text.
func whole(text string) string { return "^" + pcre.Quote(text) + `\z` }

// valuePatterns returns the patterns for a value. For nginx a missing header or
// parameter is empty, so none of them matches the empty text. want describes the
// supported values if this one cannot be checked.
func valuePatterns(v model.ValueMatch, literal func(string) string) (patterns []string, want string) {
	switch {
	case v.Value == "" || len(v.Value) > mostValue || strings.ContainsFunc(v.Value, unicode.IsControl):
		return nil, fmt.Sprintf("a value of 1 to %d bytes without control characters", mostValue)
	case !v.Pattern:
		return []string{"^" + literal(v.Value) + `\z`}, ""
	}
	text, folds := strings.CutPrefix(v.Value, "(?i)")
	if !pcre.Compiles(strings.ReplaceAll(text, "(?:", "(")) {
		return nil, "a regular expression that Go and PCRE both take, with no (?...) in it but (?:...) and a leading (?i)"
	}
	group := "(?:"
	if folds {
		group = "(?i:"
	}
	pattern := "^" + group + text + `)\z`
	if matches, known := matchText(model.Condition{Pattern: pattern}, ""); matches || !known {
		return []string{pattern, "."}, ""
	}
	return []string{pattern}, ""
}

// sent returns a pattern for a text in a query: letters, digits and -._~ unchanged,
// everything else unchanged or percent-encoded.
func sent(text string) string {
	var out strings.Builder
	for i := range len(text) {
		c := text[i]
		switch {
		case c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0:
			out.WriteString(pcre.Quote(string(c)))
		case c == ' ':
			out.WriteString(`(?:\+|%20)`)
		default:
			out.WriteString("(?:" + rawByte(c) + encoded(c) + ")")
		}
	}
	return out.String()
}

// rawByte returns an alternative for the unencoded byte, if a query can contain it.
func rawByte(c byte) string {
	switch {
	case c >= 0x80:
		return fmt.Sprintf(`\x%02x|`, c)
	case c == '&' || c == '#' || c == '%' || c == '+':
		return ""
	}
	return pcre.Quote(string(c)) + "|"
}

// encoded returns a pattern for the percent escape of a byte.
func encoded(c byte) string {
	const upper, lower = "0123456789ABCDEF", "0123456789abcdef"
	digit := func(n byte) string {
		if n < 10 {
			return upper[n : n+1]
		}
		return "[" + upper[n:n+1] + lower[n:n+1] + "]"
	}
	return "%" + digit(c>>4) + digit(c&15)
}

// ParameterPattern returns a pattern for a query whose first group is the value of
// the first parameter with a name, still encoded.
func ParameterPattern(name string) string {
	name = sent(name)
	return "^(?:(?!" + name + "(?:[=&]|\\z))[^&]*+&)*+" + name + "=([^&]*)"
}

// Header is a header of a request.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Request is a request as nginx knows it when it chooses a location.
type Request struct {
	// Method is the method; empty means "GET".
	Method string
	// Host is the Host header, with or without a port. URI is that of the request
	// line, with its query.
	Host, URI string
	// Headers are the other headers. Of several with one name, nginx 1.22 uses only
	// the first; newer versions join them with ", ", as is done here.
	Headers []Header
	// Underscores is set if nginx takes headers with a "_" in their names.
	Underscores bool
}

// holds reports whether all conditions hold. known is false if package pcre cannot
// evaluate them.
func (r *Request) holds(conditions []model.Condition) (holds, known bool) {
	known = true
	for _, c := range conditions {
		matches, told := matchText(c, r.part(c))
		told = told && !r.endsEarly(c)
		if told && !matches {
			return false, true
		}
		known = known && told
	}
	return known, known
}

// stepsOfPart is more than ParameterPattern takes for one part of a query.
const stepsOfPart = 8

// endsEarly reports whether nginx may give up before it finds the parameter of a condition.
func (r *Request) endsEarly(c model.Condition) bool {
	return c.Of == model.OfQuery && c.MatchLimit > 0 && (strings.Count(r.URI, "&")+2)*stepsOfPart > c.MatchLimit
}

// part returns the part of the request that a condition checks, empty if it is
// missing.
func (r *Request) part(c model.Condition) string {
	switch c.Of {
	case model.OfMethod:
		return cmp.Or(r.Method, "GET")
	case model.OfHeader:
		value, _ := r.header(inVariable(c.Name))
		return value
	}
	uri, _, _ := strings.Cut(r.URI, "#")
	_, query, _ := strings.Cut(uri, "?")
	return parameter(query, c.Name)
}

// parameter returns the value of the first parameter with a name, still encoded: the
// group of ParameterPattern.
func parameter(query, name string) string {
	compiled, err := pcre.Compile("^"+sent(name)+`(?:=([^&]*))?\z`, 0)
	if err != nil {
		return ""
	}
	for part := range strings.SplitSeq(query, "&") {
		if groups, matches, err := compiled.Match(part); err == nil && matches {
			return group(groups, 1, part)
		}
	}
	return ""
}

// matchText matches a case-sensitive pattern, as a map of nginx does.
func matchText(c model.Condition, text string) (matches, known bool) {
	compiled, err := pcre.Compile(c.Pattern, 0)
	if err != nil {
		return false, false
	}
	_, matches, err = compiled.MatchWithin(text, cmp.Or(c.MatchLimit, pcre.LeastSteps))
	return matches, err == nil
}
