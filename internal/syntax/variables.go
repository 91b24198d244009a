package syntax

import (
	"regexp"
	"strings"
)

// namedGroup matches a named group of a regular expression, which sets the variable
// of its name.
var namedGroup = regexp.MustCompile(`\(\?P?[<'](\w+)[>']`)

// Sets returns the variable that a directive such as set, auth_request_set or
// set_escape_uri sets, "" for none, and those that groups of its regular expressions
// set. All are in lower case, because nginx ignores case in names.
func (s Statement) Sets() (variable string, groups []string) {
	name := s.Name()
	if len(s.Tokens) > 1 && (name == "set" || strings.HasPrefix(name, "set_") || strings.HasSuffix(name, "_set")) {
		if set, ok := strings.CutPrefix(s.Tokens[1], "$"); ok {
			variable = strings.ToLower(strings.Trim(set, "{}"))
		}
	}
	if name == "map" || name == "geo" || name == "split_clients" {
		variable = strings.ToLower(strings.Trim(s.Tokens[len(s.Tokens)-1], "${}"))
	}
	for _, token := range s.Tokens {
		groups = append(groups, Groups([]byte(token))...)
	}
	return variable, groups
}

// MaySet reports whether snippets may set a variable of nginx or of Sluice: it decides about the
// request alone, for which $loggable = 0 means that the access log leaves it out.
func MaySet(variable string) bool {
	return variable == "args" || variable == "limit_rate" || variable == "loggable"
}

// Groups returns the variables that named groups of regular expressions in a text set, in
// lower case.
func Groups(text []byte) []string {
	var names []string
	for _, group := range namedGroup.FindAllSubmatch(text, -1) {
		names = append(names, strings.ToLower(string(group[1])))
	}
	return names
}

// variable matches the name of a variable in a text.
var variable = regexp.MustCompile(`\$\{?([A-Za-z_][A-Za-z0-9_]*)`)

// Variables returns the variables in a text, in lower case.
func Variables(text []byte) []string {
	var names []string
	for _, name := range variable.FindAllSubmatch(text, -1) {
		names = append(names, strings.ToLower(string(name[1])))
	}
	return names
}
