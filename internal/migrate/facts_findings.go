package migrate

import (
	"slices"
	"strings"

	"sluice/internal/settings"
)

// has reports whether a finding is about an annotation, which can end with "*".
func (f *facts) has(annotation string) bool { return f.hasItem(annotation, Note) }

// closes reports whether a finding about an annotation, which can end with "*", closes paths.
func (f *facts) closes(annotation string) bool { return f.hasItem(annotation, Unavailable) }

// hasItem looks for an item of this status or a worse one.
func (f *facts) hasItem(annotation string, least Status) bool {
	return slices.ContainsFunc(f.items, func(i Item) bool {
		return rank(i.Status) <= rank(least) && fits(annotation, strings.TrimPrefix(i.Field, f.options.AnnotationsPrefix+"/"))
	})
}

// isExempt reports whether a path has no authentication, by the setting no-auth-locations.
func (f *facts) isExempt(p path) bool {
	return settings.Covers(f.settings.Auth.NoAuthLocations, p.text, f.value("rewrite-target"))
}

// sharesAliases reports whether a wildcard or a pattern of server-alias can stand for names
// of another Ingress's wildcard host.
func (f *facts) sharesAliases() bool {
	own := hostsOf(f.ingress)
	for alias := range strings.FieldsFuncSeq(f.value("server-alias"), func(r rune) bool { return r == ',' || r == ' ' }) {
		for host, count := range f.around.hosts {
			isOther := count > 1 || !own[host]
			if isOther && strings.HasPrefix(host, "*.") && overlaps(alias, host[1:]) {
				return true
			}
		}
	}
	return false
}

// overlaps reports whether an alias can stand for names with an ending. Any pattern can.
func overlaps(alias, ending string) bool {
	below, isWildcard := strings.CutPrefix(alias, "*")
	return strings.HasPrefix(alias, "~") || isWildcard && (strings.HasSuffix(below, ending) || strings.HasSuffix(ending, below))
}
