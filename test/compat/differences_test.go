package compat

// The reasons that several requests share.
const (
	slashServed    = "a slash at the end of a Prefix path does not count, so there is nothing to redirect to"
	valueLeftOut   = "a bad value costs its key or its behaviour, not the whole Ingress"
	keepsNothing   = "a bad time for kept answers costs the time: the server that authenticates is asked"
	toEndpoints    = "what is passed through goes to the endpoints of the Service, not to its cluster address"
	ownCookie      = "two Ingresses of one Service have a cookie each, with its own settings"
	asToService    = "a copy has the headers and the HTTP version of the request to the Service"
	alwaysServing  = "an endpoint that still serves while it ends is used if no other is ready"
	snippetCloses  = "a snippet that is not allowed closes its paths, since it may be what protects them"
	errorRequest   = "what answers in place of an error gets the headers and the HTTP version of every other request"
	statusStays    = "without a Service that answers in place of an error, its status stays"
	oneRequestID   = "a request has one X-Request-ID"
	noUsualPort    = "a redirect names a port only if it is not the usual one"
	hstsEverywhere = "answers over HTTPS carry Strict-Transport-Security, redirects and errors too"
)

// unverified is why paths answer 503 and not 403.
const unverified = "certificates of clients that cannot be verified are a fault of the Ingress and not of the client: 503"

// intended are the requests that Sluice answers otherwise on purpose, each with
// the reason. docs/differences.md has them for users.
var intended = map[string]string{
	"path-prefix-slash #0 GET /foo":                            slashServed,
	"path-kep-table #8 GET http://r5.kep.example.org/foo":      slashServed,
	"path-kep-table #15 GET http://r8.kep.example.org/aaa/bbb": slashServed,
	"path-kep-table #4 GET http://r3.kep.example.org/foo":      "Exact is exact: /foo is not /foo/",
	"host-empty #5 GET /any":                                   "a request without Host is served as the catch-all host has it, not sent to https://_/",
	"endpoints-states #4 GET /term":                            alwaysServing,
	"resource-backend #0 GET /res":                             "a backend that is no Service answers 503, not the default backend",
	"request-headers-passed #2 GET /":                          "Upgrade: h2c is not passed on: the tunnel would pass by all that is said of paths",
	"annotation-invalid-values #1 GET /number":                 "what is to protect a path and cannot be read closes it",
	"annotation-invalid-values #3 GET /xfp":                    valueLeftOut,
	"annotation-invalid-values #4 GET /conn":                   valueLeftOut,
	"annotation-invalid-values #5 GET /alias":                  valueLeftOut,
	"annotation-invalid-values #11 GET /cbbs":                  valueLeftOut,
	"proxy-ssl-verify #5 GET /sni":                             "the proxy-ssl settings of one Ingress do not reach the paths of another on the same host",

	"auth-tls-on #0 GET https://auth-tls-on.example.org/":                         hstsEverywhere,
	"auth-tls-on #2 GET https://auth-tls-on.example.org/":                         hstsEverywhere,
	"auth-tls-optional #2 GET https://auth-tls-optional.example.org/":             hstsEverywhere,
	"auth-tls-invalid-values #0 GET https://auth-tls-inv.example.org/":            hstsEverywhere,
	"auth-tls-missing-secret #0 GET https://auth-tls-missing-secret.example.org/": unverified,
	"auth-tls-missing-secret #1 GET http://auth-tls-missing-secret.example.org/":  unverified,

	"ssl-passthrough #0 GET https://pass.sp.example.org/x": toEndpoints,
	"ssl-passthrough #1 GET https://pass.sp.example.org/x": toEndpoints,
	"ssl-passthrough #3 GET https://term.sp.example.org/":  "behind the passthrough, too, backends are told the address of the client and not 127.0.0.1",

	"mirror #0 GET /x?y=1":                   asToService,
	"mirror #1 POST /p":                      asToService,
	"affinity-shared-service #0 GET /one":    ownCookie,
	"snippets-enabled-risk-default #0 GET /": snippetCloses,

	"snippets-disabled #0 GET http://conf.snip.example.org/": snippetCloses,
	"snippets-disabled #1 GET http://srv.snip.example.org/":  snippetCloses,
	"snippets-disabled #2 GET http://srv.snip.example.org/s": snippetCloses,
	"snippets-disabled #3 GET http://auth.snip.example.org/": snippetCloses,

	"hash-by-invalid #0 GET /": valueLeftOut,
	"balance-invalid #0 GET /": "least_conn is one of the values of Sluice",
	"canary-two #2 GET /":      "a path can have several canaries",

	"permanent-redirect-code #2 GET /abc":                   valueLeftOut,
	"redirect-variables #0 GET /v/x?y=1":                    "variables of the request in a redirect are taken, as by older releases of ingress-nginx",
	"digest-auth #0 GET /":                                  "digest authentication is gone: its paths answer 503",
	"upstream-vhost #2 GET /bad":                            valueLeftOut,
	"app-root-tls #1 GET https://app-root-tls.example.org/": hstsEverywhere,

	"default-backend-annotation #0 GET /a":                                   oneRequestID,
	"default-backend-annotation #1 GET /a/sub?x=1":                           oneRequestID,
	"custom-errors-annotation #0 GET /x?y=1 (intercepted-503)":               errorRequest,
	"custom-errors-annotation #1 GET /x (intercepted-404)":                   errorRequest,
	"custom-errors-annotation #3 POST /x":                                    errorRequest,
	"custom-errors-global #0 GET /plain":                                     statusStays,
	"custom-errors-global #1 GET /plain":                                     statusStays,
	"custom-errors-global #3 GET /own":                                       errorRequest,
	"custom-errors-global #4 GET /noint":                                     statusStays,
	"custom-errors-global #5 GET /nomatch":                                   statusStays,
	"custom-errors-global #6 GET http://unknown.example.net/":                statusStays,
	"global-default-backend-custom-errors #0 GET /a?x=1":                     errorRequest,
	"global-default-backend-custom-errors #1 GET /a":                         errorRequest,
	"global-default-backend-custom-errors #3 GET /none":                      errorRequest,
	"global-default-backend-custom-errors #5 GET /noint":                     errorRequest,
	"www-redirect-tls #1 GET http://www.wwws.example.org/x?y=1":              noUsualPort,
	"www-redirect-tls #2 GET https://www.wwws.example.org/x?y=1":             noUsualPort,
	"external-auth-cache-bad-duration #0 GET /":                              keepsNothing,
	"external-auth-signin #6 GET https://external-auth-signin.example.org/a": hstsEverywhere,
}

// notBuilt are the requests that are not answered as recorded because Sluice
// does not read something yet: the annotation or setting, or "KEY: VALUE" where
// it is a value. Such a request has to leave the list once it agrees, and any
// request with that key once Sluice reads it.
var notBuilt = map[string]string{}
