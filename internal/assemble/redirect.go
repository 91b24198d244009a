package assemble

import (
	"fmt"
	"slices"
	"strings"

	"sluice/internal/claim"
	"sluice/internal/model"
)

// usualHTTPS is the port that no URL names.
const usualHTTPS = 443

// redirect gives the redirect to HTTPS of a claim, or nil, and the reason. A path that
// begins with one of no-tls-redirect-locations is never redirected; as with
// ingress-nginx the path of the rule is compared, not that of the request.
func (b *builder) redirect(c *claim.Claim) (r *model.Redirect, why string) {
	asked, general := c.Annotations.SSLRedirect, c.Owner.Settings.Redirects
	exempt := func(start string) bool { return start != "" && strings.HasPrefix(c.Path, start) }
	switch {
	case !asked.Always && !asked.WithCertificate:
		return nil, "ssl-redirect and force-ssl-redirect are false"
	case slices.ContainsFunc(general.NoTLSLocations, exempt):
		return nil, "the path of the rule begins with one of the setting no-tls-redirect-locations"
	case asked.Always:
		why = "force-ssl-redirect is true"
	case b.input.covered:
		why = "ssl-redirect is true, and an Ingress of the host has a tls section"
	default:
		return nil, "no Ingress of the host has a tls section, and force-ssl-redirect is false"
	}
	r = &model.Redirect{Code: general.Code, KeepTrailingSlash: asked.KeepTrailingSlash}
	if general.UsePort && b.Options.HTTPSPort != usualHTTPS {
		r.Port = b.Options.HTTPSPort
	}
	return r, why
}

// appRootCode is the status of that redirect, as in ingress-nginx.
const appRootCode = 302

// appRoot redirects / of the host to the application of the oldest Ingress that
// asks for it, before anything else is done there.
func (b *builder) appRoot() {
	for _, rules := range b.host.deciding {
		ing := rules.Owner
		switch {
		case ing.AppRoot() == "" || ing.IsDenied() || ing.Ruleless:
		case b.rooted == nil:
			b.rooted = ing
			b.add(&model.Location{
				Rule:   model.Rule{Object: ing.Ref, Field: ing.AppRootKey(), Path: "/", Kind: model.RuleRedirect},
				Return: &model.Return{Code: appRootCode, URL: ing.AppRoot()},
			}, model.Equal, "/")
		case b.rooted.AppRoot() != ing.AppRoot():
			b.out.problems = append(b.out.problems, model.Problem{Object: ing.Ref, Field: ing.AppRootKey(), Reason: model.Conflict,
				Text: fmt.Sprintf("%s already redirects / of host %q to %s, and the oldest counts", b.rooted.Ref, b.host.name, b.rooted.AppRoot())})
		}
	}
}

// commonRedirect gives the redirect that all locations have alike and that none
// must do by itself, or nil.
func commonRedirect(locations []*model.Location) *model.Redirect {
	common := locations[0].RedirectToHTTPS
	for _, l := range locations {
		if l.RedirectToHTTPS == nil || *l.RedirectToHTTPS != *common || slices.ContainsFunc(l.Blocks, keepsRedirect) {
			return nil
		}
	}
	return common
}

// keepsRedirect tells a block that needs the redirect in its own location: it
// answers some requests before, or is meant for the redirect too.
func keepsRedirect(b model.Block) bool { return b.Answers || b.Redirected }
