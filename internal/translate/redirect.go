package translate

import (
	"slices"
	"strings"

	"sluice/internal/model"
)

// usualHTTPS is the port that no URL names.
const usualHTTPS = 443

// redirect gives the redirect to HTTPS of a claim, or nil. A path that begins
// with one of no-tls-redirect-locations is never redirected; as with
// ingress-nginx the path of the rule is compared, not that of the request.
func (b *builder) redirect(c *claim) *model.Redirect {
	asked := c.owner.redirect
	if !asked.Always && !(asked.WithCertificate && b.input.covered) {
		return nil
	}
	general := b.settings.Redirects
	exempt := func(start string) bool { return start != "" && strings.HasPrefix(c.path, start) }
	if slices.ContainsFunc(general.NoTLSLocations, exempt) {
		return nil
	}
	r := &model.Redirect{Code: general.Code, KeepTrailingSlash: asked.KeepTrailingSlash}
	if general.UsePort && b.options.HTTPSPort != usualHTTPS {
		r.Port = b.options.HTTPSPort
	}
	return r
}

// commonRedirect gives the redirect that all locations have alike and that no
// location answers requests before, or nil.
func commonRedirect(locations []*model.Location) *model.Redirect {
	common := locations[0].RedirectToHTTPS
	for _, l := range locations {
		if l.RedirectToHTTPS == nil || *l.RedirectToHTTPS != *common || slices.ContainsFunc(l.Blocks, answers) {
			return nil
		}
	}
	return common
}

// answers tells a block that answers some requests by itself.
func answers(b model.Block) bool { return b.Answers }
