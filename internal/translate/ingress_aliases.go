package translate

import (
	"fmt"
	"slices"
	"strings"

	"sluice/internal/claim"
	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/pcre"
)

// readAliases sets the aliases. nginx tries the patterns of all servers on a name that
// no server has literally, and closes the connection if PCRE gives up on one: a slow
// pattern would break every host. A fault leaves out all aliases. Only an owner that
// protects keeps the valid ones, because a neighbour might get their requests.
func (i *owner) readAliases(names []string) {
	if i.Denial == claim.DenyBeginnings {
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name[0] == '~' })
	}
	if patterns := claim.CountPatterns(names); patterns > mostIngressPatterns {
		i.report(i.AliasKey(), model.InvalidValue, fmt.Sprintf("want at most %d patterns (got %d), as nginx tries each on every name that nobody has: the names are left out", mostIngressPatterns, patterns))
		if !i.Guards() {
			return
		}
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name[0] == '~' })
	}
	for _, name := range names {
		pattern, ok := strings.CutPrefix(name, "~")
		if !ok {
			continue
		}
		err := pcre.Quick(pattern)
		if err != nil {
			i.report(i.AliasKey(), model.InvalidValue, fmt.Sprintf("want patterns that nginx can try on every name (got %s): %v: the names are left out", model.Quoted(name), err))
		}
		switch {
		case err != nil && !i.Guards():
			return
		case err != nil, i.Denial != 0 && !pcre.Taken(pattern):
			names = slices.DeleteFunc(slices.Clone(names), func(other string) bool { return other == name })
		}
	}
	i.Aliases = names
}

// meantAliases returns the valid names of an invalid server-alias, for an owner that
// protects: a neighbour must not get them.
func (i *owner) meantAliases() []string {
	if !i.Guards() {
		return nil
	}
	var all []string
	for _, item := range keys.Items(i.object.Annotations[i.AliasKey()]) {
		var names keys.ServerNames
		if names.UnmarshalText([]byte(item)) == nil {
			all = append(all, names...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// mostIngressPatterns is the maximum number of patterns among the aliases of one
// Ingress. nginx tries them one by one on each name that no server has literally.
const mostIngressPatterns = 4
