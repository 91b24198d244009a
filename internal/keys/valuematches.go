package keys

import (
	"regexp"
	"slices"
	"strings"

	"sluice/internal/model"
	"sluice/internal/pcre"
	"sluice/internal/syntax"
)

// HeaderMatches and QueryMatches select requests by values; all of them must match.
type (
	HeaderMatches []model.ValueMatch
	QueryMatches  []model.ValueMatch
)

var matchedParameter = regexp.MustCompile(`^[A-Za-z0-9\-._~\[\]]{1,100}$`)

// UnmarshalText accepts lines such as "X-Tenant: blue" and "User-Agent: ~.*Mobile.*".
func (h *HeaderMatches) UnmarshalText(text []byte) error {
	list, err := valueMatches(text, func(name string) bool { return syntax.IsRequestHeaderName(name, 100) }, strings.ToLower)
	*h = list
	return err
}

// UnmarshalText accepts lines such as "version: 2" and "version: ~[23]".
func (q *QueryMatches) UnmarshalText(text []byte) error {
	list, err := valueMatches(text, matchedParameter.MatchString, strings.Clone)
	*q = list
	return err
}

func valueMatches(text []byte, isName func(string) bool, folded func(string) string) ([]model.ValueMatch, error) {
	var list []model.ValueMatch
	err := readLines(text, func(line string) error {
		name, value, _ := strings.Cut(line, ":")
		one := model.ValueMatch{Name: strings.TrimSpace(name), Value: strings.TrimSpace(value)}
		one.Value, one.Pattern = strings.CutPrefix(one.Value, "~")
		one.Value = strings.TrimSpace(one.Value)
		plain := strings.ReplaceAll(strings.TrimPrefix(one.Value, "(?i)"), "(?:", "(")
		switch {
		case !isName(one.Name):
			return wrongLine(line, `want "name: value" with a name of letters, digits and -`)
		case one.Value == "" || len(one.Value) > 400:
			return wrongLine(line, "want a value of 1 to 400 bytes behind the colon")
		case one.Pattern && !pcre.Compiles(plain):
			return wrongLine(line, "want a regular expression for the whole value, with no (?...) in it but (?:...) and a leading (?i)")
		case slices.ContainsFunc(list, func(other model.ValueMatch) bool { return folded(other.Name) == folded(one.Name) }):
			return wrongLine(line, "want each name once")
		}
		list = append(list, one)
		return nil
	})
	if len(list) > 16 {
		return list, &specific{"it has more than 16 lines"}
	}
	return list, err
}
