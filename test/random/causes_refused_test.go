package random

import (
	"strings"

	"sluice/internal/explain"
	"sluice/test/recorded"
)

// refusedCauses are about Ingresses that ingress-nginx refuses whole, and about paths that one
// of both closes.
var refusedCauses = []cause{
	{"`connection-proxy-header` with another word than", func(a *asked, place string) bool {
		return a.refusedThere(place, func(in *recorded.Ingress) bool { return in.Annotations["connection-proxy-header"] == "upgrade" })
	}},
	{"`$request_uri`, `$uri`, `$args`", func(a *asked, place string) bool {
		return a.refusedThere(place, func(in *recorded.Ingress) bool {
			return strings.Contains(in.Annotations["permanent-redirect"]+in.Annotations["temporal-redirect"], "$request_uri")
		})
	}},
	{"a rewrite that is invalid", func(a *asked, place string) bool {
		return (place == "/status" || place == "/headers/Vary") && strings.Contains(a.owner().Annotations["rewrite-target"], "?")
	}},
	{"a file of users without a user", func(a *asked, place string) bool {
		return place == "/status" && a.got.Status == 503 && a.says("auth-secret: Secret ") && a.says("want a user in each key")
	}},
	{"`proxy-ssl-verify: \"on\"` with a Secret and without", func(a *asked, place string) bool {
		return place == "/status" && a.got.Status == 503 && a.says("proxy-ssl-verify: want the name that the certificates must have")
	}},
	{"`app-root` and `from-to-www-redirect` of an Ingress whose paths are closed", func(a *asked, place string) bool {
		return place == "/status" && (a.want.Status == 302 || a.want.Status == 308) && a.around(func(in *recorded.Ingress) bool {
			root, www := in.Annotations["app-root"], in.Annotations["from-to-www-redirect"] == "true"
			location := a.want.Headers["Location"]
			return a.isClosed(in) && (root != "" && strings.HasSuffix(location, root) || www && !strings.Contains(location, a.call().Host))
		})
	}},
	{"`custom-http-errors` with 401, 403, 500 or 503 on", func(a *asked, place string) bool {
		refused := a.got.Status == 401 || a.got.Status == 403
		return place == "/status" && refused && a.intercepts(statusOf(a.got)) && asksFirst(a.got.Hits)
	}},
	{"`custom-http-errors` without a default backend", func(a *asked, place string) bool {
		lost := a.want.Status == 404 || a.want.Status == 500
		return place == "/status" && lost && a.owner().Annotations["default-backend"] == "" && a.intercepts(statusOf(a.got))
	}},
	{"a path of `no-auth-locations` or", func(a *asked, place string) bool {
		winner := a.explained().Winner
		exempt := winner != nil && a.exempts(winner)
		return place == "/status" && exempt && (a.got.Status == 308 || a.got.Status == 401) && a.want.Status < 300
	}},
	{"`auth-tls-secret` over plain HTTP", func(a *asked, place string) bool {
		return place == "/status" && !a.https() && (a.got.Status == 308 || a.got.Status == 400) && len(a.values("auth-tls-secret")) > 0
	}},
	{"the text of the 403 of `auth-tls-match-cn`", func(a *asked, place string) bool {
		return place == "/body" && a.got.Status == 403 && a.want.Body == "client certificate unauthorized"
	}},
}

// refusedThere says whether ingress-nginx has nothing of the Ingress that takes the request
// here, or that decides the TLS of its host or turns its paths into patterns.
func (a *asked) refusedThere(place string, refused func(*recorded.Ingress) bool) bool {
	secured := place == "/cert" || place == "/status" && a.got.Status == 308
	return refused(a.owner()) || a.around(func(in *recorded.Ingress) bool {
		turns := in.Annotations["use-regex"] == "true" || in.Annotations["rewrite-target"] != ""
		return refused(in) && (secured && len(in.TLS) > 0 || turns && a.got.Status != 404)
	})
}

// exempts says whether the path that takes the request begins with one that the settings exempt
// from authentication, or from the redirect to HTTPS.
func (a *asked) exempts(winner *explain.Candidate) bool {
	prefixes := []string{"/.well-known/acme-challenge", a.world.Config["no-tls-redirect-locations"], a.world.Config["no-auth-locations"]}
	for _, prefix := range prefixes {
		if prefix != "" && strings.HasPrefix(winner.Path, prefix) {
			return true
		}
	}
	return false
}
