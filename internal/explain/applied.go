package explain

import (
	"cmp"
	"fmt"
	"strings"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/route"
)

// applied returns the effects of the chosen location.
func (x *explainer) applied() *Applied {
	l := x.choice.Location
	a := &Applied{Redirect: x.redirect(l), Denied: x.denied(l), Behaviours: x.behaviours(l)}
	if l.Proxy != nil {
		a.Backend = x.backend(l)
		a.Rewrite = x.rewrite(l)
	}
	return a
}

// redirect tells whether plain HTTP is redirected to HTTPS.
func (x *explainer) redirect(l *model.Location) Redirect {
	how := cmp.Or(x.serverRedirect(), l.RedirectToHTTPS)
	switch {
	case x.request.Scheme == "https":
		return Redirect{Why: "the request comes by HTTPS"}
	case how == nil:
		return Redirect{Why: whyNotRedirected(l)}
	}
	return Redirect{Redirects: true, Status: how.Code, Location: x.overHTTPS(how), Why: l.PlainHTTP}
}

// whyNotRedirected returns the answer that comes before the redirect, or the reason why
// there is none.
func whyNotRedirected(l *model.Location) string {
	switch {
	case sends(l):
		return "it is redirected elsewhere first"
	case l.Return != nil:
		return "the status is answered first"
	}
	return cmp.Or(l.PlainHTTP, "requests that no rule takes are never redirected")
}

// unavailable is the status of locations that cannot be served.
const unavailable = 503

// denied returns the Problems because of which a rule is not served; nil if it is.
func (x *explainer) denied(l *model.Location) *Denied {
	if l.Return == nil || l.Return.Code != unavailable {
		return nil
	}
	d := &Denied{Status: l.Return.Code}
	for _, p := range x.problems[l.Rule.Object] {
		general := p.Field == l.Rule.Field || !strings.HasPrefix(p.Field, "spec.") || x.isOfHost(p)
		if p.Denies && general || strings.HasPrefix(p.Field+".", backendField(l)+".") {
			d.Problems = append(d.Problems, p)
		}
	}
	for _, name := range x.settingsOf(x.ingressOf(l)).Origins() {
		for _, p := range x.problems[name] {
			if p.Denies {
				d.Problems = append(d.Problems, p)
			}
		}
	}
	return d
}

// isOfHost reports whether a Problem is of the host of the deciding server. An Ingress may name
// it in several rules, and the Problem is in the first.
func (x *explainer) isOfHost(p model.Problem) bool {
	ing := x.Snapshot.IngressOf(p.Object)
	if ing == nil {
		return false
	}
	for i, rule := range ing.Spec.Rules {
		if p.Field == fmt.Sprintf("spec.rules[%d].host", i) {
			return strings.EqualFold(rule.Host, x.choice.Server.Host)
		}
	}
	return false
}

// backendField returns the field with the backend of a location.
func backendField(l *model.Location) string {
	if l.Rule.Field == claim.DefaultBackendField {
		return claim.DefaultBackendField
	}
	return l.Rule.Field + ".backend"
}

// rewrite returns the rewrite of a location and its result; nil for none.
func (x *explainer) rewrite(l *model.Location) *Rewrite {
	if l.Rewrite == nil {
		return nil
	}
	r := &Rewrite{Pattern: l.Rewrite.Pattern, Target: l.Rewrite.Target}
	if path, ok := route.Rewritten(l.Rewrite, x.choice.Path); ok {
		if r.Path = x.request.URI; path != x.choice.Path {
			r.Path = route.Passed(path, x.request.URI)
		}
	}
	return r
}
