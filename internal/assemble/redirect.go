package assemble

import (
	"fmt"
	"slices"

	"sluice/internal/annotations"
	"sluice/internal/claim"
	"sluice/internal/model"
)

// usualHTTPS is the port that URLs leave out.
const usualHTTPS = 443

// redirect returns the redirect to HTTPS of a claim, nil for none, and the reason. A
// path of a rule for which one of no-tls-redirect-locations holds is never redirected.
func (b *builder) redirect(c *claim.Claim) (r *model.Redirect, why string) {
	asked, general := c.Annotations.SSLRedirect, c.Owner.Settings.Redirects
	switch {
	case !asked.Always && !asked.WithCertificate:
		return nil, "ssl-redirect and force-ssl-redirect are false"
	case withoutTLS(c):
		return nil, "the path of the rule begins with one of the setting no-tls-redirect-locations"
	case asked.Always:
		why = "force-ssl-redirect is true"
	case b.input.covered:
		why = "ssl-redirect is true, and an Ingress of the host has a tls section"
	case b.requiresClients(c):
		why = "ssl-redirect is true, and clients need certificates"
	default:
		return nil, "no Ingress of the host has a tls section, and force-ssl-redirect is false"
	}
	r = &model.Redirect{Code: general.Code, KeepTrailingSlash: asked.KeepTrailingSlash}
	if c.Annotations.RedirectForm.UsePort && b.Options.HTTPSPort != usualHTTPS {
		r.Port = b.Options.HTTPSPort
	}
	return r, why
}

// relative reports whether redirects without a host in their URL stay so. As in
// ingress-nginx, the annotation does not apply to the redirect of app-root.
func relative(owner *claim.Owner, of *annotations.Annotations) bool {
	return of.RedirectForm.Relative || owner.Settings.Redirects.Relative
}

// appRootCode is the status of the redirect of an app-root, as in ingress-nginx.
const appRootCode = 302

// appRoot redirects / of the host to the app-root of the oldest owner that has one.
func (b *builder) appRoot() {
	for _, rules := range b.host.deciding {
		owner := rules.Owner
		switch {
		case owner.AppRoot() == "" || owner.IsDenied() || owner.Ruleless:
		case b.appRootOwner == nil:
			b.appRootOwner = owner
			b.add(&model.Location{
				Rule:   model.Rule{Object: owner.Ref, Field: owner.AppRootKey(), Path: "/", Kind: model.RuleRedirect},
				Return: &model.Return{Code: appRootCode, URL: owner.AppRoot(), Relative: owner.Settings.Redirects.Relative},
			}, model.Equal, "/")
		case b.appRootOwner.AppRoot() != owner.AppRoot():
			b.tell(model.Problem{Object: owner.Ref, Field: owner.AppRootKey(), Reason: model.Conflict,
				Text: fmt.Sprintf("%s already redirects / of host %q to %s, and the oldest counts", b.appRootOwner.Ref, b.host.name, b.appRootOwner.AppRoot())})
		}
	}
}

// commonRedirect returns the redirect that all locations share, nil if there is none or
// if a location needs its own.
func commonRedirect(locations []*model.Location) *model.Redirect {
	common := locations[0].RedirectToHTTPS
	for _, l := range locations {
		if l.RedirectToHTTPS == nil || *l.RedirectToHTTPS != *common || slices.ContainsFunc(l.Blocks, keepsRedirect) {
			return nil
		}
	}
	return common
}

// keepsRedirect reports whether a block needs the redirect in its own location: it
// answers requests before the redirect, or applies to it.
func keepsRedirect(b model.Block) bool { return b.Answers || b.Redirected || b.SetsHeaders }
