package explain

import (
	"cmp"
	"strings"

	"sluice/internal/model"
	"sluice/internal/route"
)

// applied says what is done with the request at the location that takes it.
func (x *explainer) applied() *Applied {
	l := x.choice.Location
	a := &Applied{Redirect: x.redirect(l), Denied: x.denied(l), Behaviours: x.behaviours(l)}
	if l.Proxy != nil {
		a.Backend = x.backend(l)
		a.Rewrite = x.rewrite(l)
	}
	return a
}

// redirect says whether plain HTTP is redirected to HTTPS, which comes before what
// a location answers by a status.
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

// whyNotRedirected gives what comes before the redirect, or why package translate made
// none.
func whyNotRedirected(l *model.Location) string {
	switch {
	case sends(l):
		return "it is redirected elsewhere first"
	case l.Return != nil:
		return "the status is answered first"
	}
	return cmp.Or(l.PlainHTTP, "what no rule takes is never redirected")
}

// unavailable is the status of what is not served for a mistake.
const unavailable = 503

// denied says why a rule is not served; nil if it is.
func (x *explainer) denied(l *model.Location) *Denied {
	if l.Return == nil || l.Return.Code != unavailable {
		return nil
	}
	d := &Denied{Status: l.Return.Code}
	for _, p := range x.problems[l.Rule.Object] {
		general := p.Field == l.Rule.Field || !strings.HasPrefix(p.Field, "spec.")
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

// backendField is the field in which the backend of a location is written.
func backendField(l *model.Location) string {
	if l.Rule.Field == defaultBackendField {
		return defaultBackendField
	}
	return l.Rule.Field + ".backend"
}

// rewrite says what the rewrite of a location makes of the path; nil for none.
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
