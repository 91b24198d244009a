package keys

import (
	"regexp"
	"slices"
	"strings"

	"sluice/internal/model"
)

// namesOfRules are the variables that the rules for texts with few of them allow.
var namesOfRules = map[string]string{
	"auth_url": authNames, "auth_text": authNames, "signin_url": authNames,
	"redirect_url": redirectNames, "http_url": redirectNames, "mirror_target": redirectNames,
	"path_and_variables": variableNames, "host_and_variables": variableNames, "transaction_id": variableNames,
}

// listed are the rules that describe the valid texts with all variables.
var listed = []string{"redirect_url", "http_url", "mirror_target"}

var (
	anyVariable = regexp.MustCompile(`\$\{?([A-Za-z0-9_]+)`)
	// anyName is the end of a pattern for names that have another name in them.
	anyName = regexp.MustCompile(`\(\?:([a-z|]+)\)_\[A-Za-z0-9_\]\+`)
)

// unknownVariable returns the first variable of a text that a rule does not allow, with those that
// it allows unless the rule lists them; "" if there is none, or the rule is about something else.
func unknownVariable(rule, text string) string {
	names := namesOfRules[rule]
	if names == "" {
		return ""
	}
	allowed := regexp.MustCompile(`^` + names + `$`)
	for _, found := range anyVariable.FindAllStringSubmatch(text, -1) {
		if allowed.MatchString(found[1]) {
			continue
		}
		why := "the variable " + model.OneLine("$"+found[1], 100) + " is none of these"
		if !slices.Contains(listed, rule) {
			why += ": " + listOf(names)
		}
		return why
	}
	return ""
}

// listOf writes the names of a pattern for readers, as in "$host, $scheme and $http_NAME".
func listOf(pattern string) string {
	spelled := anyName.ReplaceAllStringFunc(pattern, func(group string) string {
		return strings.ReplaceAll(anyName.FindStringSubmatch(group)[1], "|", "_NAME|") + "_NAME"
	})
	names := strings.Split(strings.TrimSuffix(strings.TrimPrefix(spelled, "(?:"), ")"), "|")
	for i := range names {
		names[i] = "$" + names[i]
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
