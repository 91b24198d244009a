package route

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"sluice/internal/pcre"
)

// matchPattern matches a path as `location ~*` does, or a host as the pattern of a server
// name does. steps is PCRE2's limit; 0 is pcre.LeastSteps. known is false if package pcre
// cannot evaluate the pattern.
func matchPattern(pattern, text string, steps int) (matches, known bool) {
	compiled, err := pcre.Compile(pattern, pcre.Caseless)
	if err != nil {
		return false, false
	}
	return matchCompiled(compiled, text, steps)
}

func matchCompiled(compiled *pcre.Pattern, text string, steps int) (matches, known bool) {
	_, matches, err := compiled.MatchWithin(text, cmp.Or(steps, pcre.LeastSteps))
	return matches, err == nil
}

var (
	reference = regexp.MustCompile(`\$(?:\{[A-Za-z0-9_]+\}|[A-Za-z_][A-Za-z0-9_]*)`)
	// groupReference also matches the numbers of groups.
	groupReference = regexp.MustCompile(`\$(?:[1-9]|\{[A-Za-z_][A-Za-z0-9_]*\}|[A-Za-z_][A-Za-z0-9_]*)`)
)

// References returns the names in a rewrite's target: $n and ${n}.
func References(target string) []string {
	var names []string
	for _, found := range reference.FindAllString(target, -1) {
		names = append(names, strings.Trim(found, "${}"))
	}
	return names
}

// RenameReferences changes the names in a rewrite's target to those of pcre.Rename: $n and
// ${n} become $p_n and ${p_n}. It returns false if the target has a variable that looks
// like a renamed group.
func RenameReferences(target string, names []string) (renamed string, ok bool) {
	ok = true
	renamed = reference.ReplaceAllStringFunc(target, func(found string) string {
		name := strings.Trim(found, "${}")
		if slices.Contains(names, name) {
			return strings.Replace(found, name, pcre.GroupName(name), 1)
		}
		ok = ok && !pcre.IsGroupName(name)
		return found
	})
	return renamed, ok
}
