package assemble

import (
	"slices"
	"strings"

	"sluice/internal/annotations"
	"sluice/internal/claim"
	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/pcre"
	"sluice/internal/route"
)

// redirectsBlock is the data of the block of a redirect. Pattern matches the URI of the
// request; its group redirects_path is the rest of the path.
type redirectsBlock struct{ Pattern string }

// Rest returns the rest of the path of a request, as the block finds it.
func (r redirectsBlock) Rest(uri string) string {
	compiled, err := pcre.Compile(r.Pattern, pcre.Caseless)
	if err != nil {
		return ""
	}
	groups, matches, err := compiled.Match(uri)
	if err != nil || !matches || groups[2] < 0 {
		return ""
	}
	return uri[groups[2]:groups[3]]
}

// redirectsField is the field of the claims that redirect.
const redirectsField = annotations.OwnPrefix + "redirects"

// redirectTo makes the location of a claim that redirects.
func (b *builder) redirectTo(l *model.Location, c *claim.Claim) {
	r := c.Action.Redirect
	url := r.To
	if r.Keeps {
		url += "$" + model.RedirectRest
		// Slashes at the beginning of the rest could name another host.
		pattern := "^" + pcre.Quote(r.From) + `/[/\\]*(?<redirects_path>[^?]*)`
		b.addBlock(l, "redirects", redirectsBlock{pattern})
	}
	if !strings.Contains(url, "?") {
		url += "$is_args$args"
	}
	l.Return = &model.Return{Code: r.Code, URL: url, Relative: relative(c.Owner, c.Annotations)}
}

// redirectPattern is the path of a redirect on a host whose paths are patterns.
func redirectPattern(r *keys.Redirection) pattern {
	if r.Below {
		return plain(pcre.Quote(r.From) + "(?:/|$)")
	}
	return plain(pcre.Quote(r.From) + "$")
}

// sort sorts the locations. A redirect that is a pattern comes before the first pattern of
// its owner that takes all its requests. So it takes nothing from other owners.
func (b *builder) sort() {
	route.Sort(b.locations)
	budget := &pcre.Comparisons{Left: mostOverlapSteps}
	for at, l := range b.locations {
		if !isRedirect(l) {
			continue
		}
		own, err := pcre.Compile(l.Path, pcre.Caseless)
		if err != nil {
			continue
		}
		before := slices.IndexFunc(b.locations[:at], func(other *model.Location) bool {
			return other.Modifier == model.Pattern && other.Rule.Object == l.Rule.Object && !isRedirect(other) && covers(other, own, budget)
		})
		if before >= 0 {
			copy(b.locations[before+1:at+1], b.locations[before:at])
			b.locations[before] = l
		}
	}
}

// isRedirect reports whether a location is the pattern of a redirect.
func isRedirect(l *model.Location) bool {
	return l.Modifier == model.Pattern && l.Rule.Field == redirectsField && l.Return != nil && l.Return.URL != ""
}

// covers reports whether a location surely takes all requests of a pattern.
func covers(l *model.Location, inner *pcre.Pattern, budget *pcre.Comparisons) bool {
	outer, err := pcre.Compile(l.Path, pcre.Caseless)
	if err != nil {
		return false
	}
	all, known := budget.Covers(outer, inner)
	return all && known
}
