package assemble

import (
	"strings"

	"sluice/internal/annotations"
	"sluice/internal/claim"
	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/pcre"
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

// redirectTo makes the location of a claim that redirects.
func (b *builder) redirectTo(l *model.Location, c *claim.Claim) {
	r := c.Redirect
	url := r.To
	if r.Keeps {
		url += "$" + model.RedirectRest
		// Slashes at the beginning of the rest could name another host.
		pattern := "^" + pcre.Quote(r.From) + `/[/\\]*(?<redirects_path>[^?]*)`
		l.Blocks = append(l.Blocks[:len(l.Blocks):len(l.Blocks)], annotations.BlockOf(c.Owner.Ref, "redirects", redirectsBlock{pattern}))
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
