package render

import (
	"slices"
	"strings"

	"sluice/internal/model"
)

// believed are headers by which servers that authenticate learn what was asked, by whom and over
// what: those that reverse proxies set. Questions have none of them from the client.
// Sources: https://github.com/oauth2-proxy/oauth2-proxy/blob/master/pkg/requests/util/util.go,
// https://www.authelia.com/reference/guides/proxy-authorization/,
// https://github.com/vouch/vouch-proxy, https://github.com/thomseddon/traefik-forward-auth,
// https://doc.traefik.io/traefik/middlewares/http/forwardauth/, https://www.ory.sh/docs/oathkeeper.
var believed = []string{
	"Forwarded", "Front-End-Https",
	"Remote-Email", "Remote-Groups", "Remote-Name", "Remote-User",
	"X-Auth-Request-Access-Token", "X-Auth-Request-Email", "X-Auth-Request-Groups", "X-Auth-Request-Preferred-Username",
	"X-Auth-Request-Redirect", "X-Auth-Request-User", "X-Authelia-URL",
	"X-Envoy-Original-Host", "X-Envoy-Original-Method", "X-Envoy-Original-Path",
	"X-Forwarded", "X-Forwarded-Access-Token", "X-Forwarded-By", "X-Forwarded-Client-Cert", "X-Forwarded-Email",
	"X-Forwarded-For", "X-Forwarded-Groups", "X-Forwarded-Host", "X-Forwarded-Method", "X-Forwarded-Path", "X-Forwarded-Port",
	"X-Forwarded-Preferred-Username", "X-Forwarded-Prefix", "X-Forwarded-Proto", "X-Forwarded-Protocol", "X-Forwarded-Query",
	"X-Forwarded-Scheme", "X-Forwarded-Server", "X-Forwarded-Ssl", "X-Forwarded-Tls-Client-Cert",
	"X-Forwarded-Tls-Client-Cert-Info", "X-Forwarded-Uri", "X-Forwarded-Url", "X-Forwarded-User", "X-Forwarded-Username",
	"X-HTTP-Method", "X-HTTP-Method-Override", "X-Method-Override",
	"X-Original-Args", "X-Original-Host", "X-Original-Method", "X-Original-Path", "X-Original-Port", "X-Original-Proto",
	"X-Original-Query", "X-Original-Scheme", "X-Original-URI", "X-Original-URL",
	"X-Remote-Group", "X-Remote-User", "X-Request-Method", "X-Request-URI", "X-Rewrite-URL", "X-Scheme", "X-Url-Scheme",
	"X-Vouch-Requested-URI",
}

// isQuestion reports whether a location asks an authentication server.
func isQuestion(l *model.Location) bool {
	return slices.ContainsFunc(l.Blocks, func(b model.Block) bool { return b.Name == questions })
}

// withBelieved adds to the directives that a question inherits those that withhold the headers
// that its server may believe. The ones of the question itself replace them, as they replace
// inherited ones.
func (r *rendering) withBelieved(inherited []inheritable) []inheritable {
	all := slices.Clip(inherited)
	for _, w := range r.withholding() {
		if !has(inherited, setHeader, w.header) {
			all = append(all, w)
		}
	}
	return all
}

// withholding are the directives for believed, made once.
func (r *rendering) withholding() []inheritable {
	if r.believed != nil {
		return r.believed
	}
	for _, name := range believed {
		forms := []string{name}
		if r.underscores {
			forms = append(forms, otherForms(name)...)
		}
		for _, form := range forms {
			r.believed = append(r.believed, inheritable{directive: setHeader, header: strings.ToLower(form), text: setHeader + " " + form + ` "";`})
		}
	}
	return r.believed
}
