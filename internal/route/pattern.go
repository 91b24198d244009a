package route

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"sluice/internal/pcre"
)

// matchPattern matches a path as `location ~*` does, or the name of a host as the
// pattern of a server's name. known is false if package pcre cannot tell what PCRE2
// says, which may give up after so many steps; 0 is the least that is usual.
func matchPattern(pattern, text string, steps int) (matches, known bool) {
	compiled, err := pcre.Compile(pattern, pcre.Caseless)
	if err != nil {
		return false, false
	}
	_, matches, err = compiled.MatchWithin(text, cmp.Or(steps, pcre.LeastSteps))
	return matches, err == nil
}

var (
	reference = regexp.MustCompile(`\$(?:\{[A-Za-z0-9_]+\}|[A-Za-z_][A-Za-z0-9_]*)`)
	// groupReference is reference with the numbers of groups.
	groupReference = regexp.MustCompile(`\$(?:[1-9]|\{[A-Za-z_][A-Za-z0-9_]*\}|[A-Za-z_][A-Za-z0-9_]*)`)
)

// References gives the names that are used in a rewrite's target: $n and ${n}.
func References(target string) []string {
	var names []string
	for _, found := range reference.FindAllString(target, -1) {
		names = append(names, strings.Trim(found, "${}"))
	}
	return names
}

// RenameReferences gives a rewrite's target the names that the groups have after
// pcre.Rename: $n and ${n} become $p_n and ${p_n}. It is false if the target names
// a variable that would pass for a group's.
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
