package settings

import "sluice/internal/keys"

// Auth configures the authentication server of all Ingresses without their own, and the
// paths without authentication. Annotations can override the server. If a key of the server
// that costs all is not valid, its paths must not be served.
type Auth struct {
	URL             string               `key:"global-auth-url" empty:"zero" validate:"auth_url" protects:"true" doc:"URL of a server that Sluice asks about each request for an Ingress without auth-url. Ingresses with enable-global-auth: \"false\" are exempt. Empty means no server."`
	Method          string               `key:"global-auth-method" validate:"oneof=GET HEAD POST PUT PATCH DELETE CONNECT OPTIONS TRACE" needs:"global-auth-url" costs:"all" doc:"HTTP method Sluice asks the server with. Default: GET. If set, Sluice also sends the headers X-Original-URI and X-Scheme."`
	RequestRedirect string               `key:"global-auth-request-redirect" validate:"auth_text" needs:"global-auth-url" doc:"Value of the header X-Auth-Request-Redirect that the server gets. By default it is the URI that the client asked for."`
	ResponseHeaders []string             `key:"global-auth-response-headers" validate:"max=20,dive,response_header" needs:"global-auth-url" costs:"all" doc:"Headers of the answer of the server that backends get, at most 20. Backends never get headers with these names from the client."`
	SignIn          string               `key:"global-auth-signin" validate:"signin_url" needs:"global-auth-url" doc:"URL that clients are redirected to, with status 302, if the server answers 401."`
	RedirectParam   string               `key:"global-auth-signin-redirect-param" default:"rd" validate:"parameter_name" needs:"global-auth-signin" doc:"Parameter of global-auth-signin that has the URL that the client asked for."`
	AlwaysSetCookie bool                 `key:"global-auth-always-set-cookie" default:"false" empty:"zero" needs:"global-auth-url" doc:"Whether clients also get the cookies of the server with refusals and errors."`
	CacheKey        string               `key:"global-auth-cache-key" validate:"max=1000,cache_key" needs:"global-auth-url" doc:"Text with variables: Sluice keeps the answers of the server, and does not ask again about requests with the same text, path and host, as with auth-cache-key."`
	CacheDuration   keys.CacheTimes      `key:"global-auth-cache-duration" needs:"global-auth-cache-key" doc:"Times for which Sluice keeps answers without Cache-Control or Expires, each after the statuses that it is for. By default Sluice keeps only answers with one of these headers."`
	Snippet         keys.QuestionSnippet `key:"global-auth-snippet" empty:"zero" needs:"global-auth-url" costs:"all" doc:"Directives of nginx for the requests to the server. Sluice copies them unchanged."`
	Authorities     keys.Authorities     `key:"global-auth-ca" needs:"global-auth-url" protects:"true" doc:"Certificate authorities in PEM. Sluice then sends questions only to a server with a certificate of these for the host of global-auth-url, which must be https://."`
	AccessLog       bool                 `key:"enable-auth-access-log" default:"false" empty:"zero" doc:"Whether questions to servers that authenticate are in the access log, beside the requests that they are about."`
	NoAuthLocations []string             `key:"no-auth-locations" default:"/.well-known/acme-challenge" validate:"dive,path_prefix" empty:"zero" permits:"true" doc:"Prefixes of paths without basic and external authentication, whatever Ingresses say."`
}
