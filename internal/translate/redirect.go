package translate

import (
	"fmt"
	"slices"
	"strings"

	"sluice/internal/annotations"
	"sluice/internal/model"
)

// usualHTTPS is the port that no URL names.
const usualHTTPS = 443

// redirect gives the redirect to HTTPS of a claim, or nil, and the reason. A path that
// begins with one of no-tls-redirect-locations is never redirected; as with
// ingress-nginx the path of the rule is compared, not that of the request.
func (b *builder) redirect(c *claim) (r *model.Redirect, why string) {
	asked, general := c.annotations.SSLRedirect, c.owner.settings.Redirects
	exempt := func(start string) bool { return start != "" && strings.HasPrefix(c.path, start) }
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
	if general.UsePort && b.options.HTTPSPort != usualHTTPS {
		r.Port = b.options.HTTPSPort
	}
	return r, why
}

// remarkRedirect reports a redirect that another one hides.
func (i *owner) remarkRedirect(asked *annotations.Redirect) {
	if asked.Temporal != "" && asked.Permanent != "" {
		i.report(i.prefixKey+"permanent-redirect", model.Ambiguous, "it has no effect beside "+i.prefixKey+"temporal-redirect")
	}
}

// appRootCode is the status of that redirect, as in ingress-nginx.
const appRootCode = 302

// appRoot redirects / of the host to the application of the oldest Ingress that
// asks for it, before anything else is done there.
func (b *builder) appRoot() {
	for _, rules := range b.host.deciding {
		ing := rules.owner
		switch {
		case ing.appRoot() == "" || ing.isDenied() || ing.ruleless:
		case b.rooted == nil:
			b.rooted = ing
			b.add(&model.Location{
				Rule:   model.Rule{Object: ing.ref, Field: ing.appRootKey(), Path: "/", Kind: model.RuleRedirect},
				Return: &model.Return{Code: appRootCode, URL: ing.appRoot()},
			}, model.Equal, "/")
		case b.rooted.appRoot() != ing.appRoot():
			b.out.problems = append(b.out.problems, model.Problem{Object: ing.ref, Field: ing.appRootKey(), Reason: model.Conflict,
				Text: fmt.Sprintf("%s already redirects / of host %q to %s, and the oldest counts", b.rooted.ref, b.host.name, b.rooted.appRoot())})
		}
	}
}

// appRoot is where / of its hosts is redirected to, empty for nowhere.
func (i *owner) appRoot() string { return i.annotations.AppRoot.Path }

func (i *owner) appRootKey() string { return i.prefixKey + "app-root" }

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
