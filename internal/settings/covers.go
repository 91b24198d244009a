package settings

import (
	"slices"
	"strings"

	"sluice/internal/pcre"
)

// Covers reports whether one of several prefixes of paths, as in no-auth-locations, holds for
// a path of a rule. As in ingress-nginx, the path of the rule begins with the prefix. In
// addition, everything that the path matches if it is a pattern, and the target to which it
// is rewritten (empty for none), have to begin with it too: nobody may take other paths out
// of what the administrator wants for all.
func Covers(prefixes []string, path, target string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool {
		rest, begins := strings.CutPrefix(path, prefix)
		switch {
		case prefix == "" || !begins:
			return false
		case prefix == "/":
			return true // every path begins with it
		case target != "" && !strings.HasPrefix(target, prefix):
			return false
		}
		return strings.HasPrefix(pcre.Beginning(pcre.Quote(prefix)+rest), prefix)
	})
}
