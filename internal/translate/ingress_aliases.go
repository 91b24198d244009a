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

// readAliases takes the further names of the hosts. nginx tries the patterns of
// all servers on a name that nobody has as it is, and closes the connection where
// PCRE gives up on one of them: such a pattern would be everybody's loss. The other
// names beside it are left out too, but for an Ingress that keeps requests out: what
// is asked of them must not go to a neighbour.
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
			i.report(i.AliasKey(), model.InvalidValue, fmt.Sprintf("want patterns that nginx can try on every name (got %s): %v: the names are left out", claim.Quoted(name), err))
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

// meantAliases are the names of a server-alias that is not valid as a whole which
// are: of an Ingress that keeps requests out, they must not be a neighbour's.
func (i *owner) meantAliases() []string {
	if !i.Guards() {
		return nil
	}
	var all []string
	for item := range strings.SplitSeq(i.object.Annotations[i.AliasKey()], ",") {
		var names keys.ServerNames
		if names.UnmarshalText([]byte(item)) == nil {
			all = append(all, names...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// mostIngressPatterns is how many patterns may be among the names of one Ingress:
// nginx tries them one by one on each name that nobody has as it is.
const mostIngressPatterns = 4
