package annotations

import (
	"strconv"
	"strings"

	"sluice/internal/keys"
)

// ExternalAuth lets another server decide which requests may pass: that of the Ingress, or
// the one of the settings for all Ingresses.
type ExternalAuth struct {
	URL             string   `key:"auth-url" from:"global-auth-url" empty:"zero" risk:"high" validate:"auth_url" protects:"true" doc:"URL of the server that Sluice asks about each request: 2xx lets the request pass, 401 and 403 refuse it, and for any other answer clients get 500. The controller resolves the host; $host as the host is the host of the rule. With this annotation, none of the settings global-auth-* holds."`
	Method          string   `key:"auth-method" from:"global-auth-method" risk:"low" validate:"oneof=GET HEAD POST PUT PATCH DELETE CONNECT OPTIONS TRACE" needs:"auth-url" usual:"GET" costs:"all" doc:"HTTP method Sluice asks the server with. Default: GET. If set, Sluice also sends the headers X-Original-URI and X-Scheme."`
	ProxySetHeaders string   `key:"auth-proxy-set-headers" risk:"medium" validate:"configmap_name" needs:"auth-url" costs:"all" doc:"ConfigMap with headers that Sluice sends to the server. Values can have variables such as $host. Sluice needs the permission to read it (rbac.headerConfigMaps of the chart). A ConfigMap of another namespace has to delegate itself, with its annotation sluice.io/delegation."`
	RequestRedirect string   `key:"auth-request-redirect" from:"global-auth-request-redirect" risk:"medium" validate:"auth_text" needs:"auth-url" doc:"Value of the header X-Auth-Request-Redirect that the server gets. By default it is the URI that the client asked for."`
	ResponseHeaders []string `key:"auth-response-headers" from:"global-auth-response-headers" risk:"medium" validate:"max=20,dive,response_header" needs:"auth-url" costs:"all" doc:"Headers of the answer of the server that backends get, at most 20. Backends never get headers with these names from the client."`
	SignIn          string   `key:"auth-signin" from:"global-auth-signin" risk:"high" validate:"own_signin_url" needs:"auth-url" doc:"URL that clients are redirected to, with status 302, if the server answers 401. It can have variables that auth_request_set in a snippet of the Ingress sets to headers of the answer."`
	RedirectParam   string   `key:"auth-signin-redirect-param" from:"global-auth-signin-redirect-param" default:"rd" risk:"medium" validate:"parameter_name" needs:"auth-signin" doc:"Parameter of auth-signin that has the URL that the client asked for."`
	AlwaysSetCookie bool     `key:"auth-always-set-cookie" from:"global-auth-always-set-cookie" default:"false" risk:"low" needs:"auth-url" doc:"Whether clients also get the cookies of the server with refusals and errors."`

	CacheKey      string          `key:"auth-cache-key" from:"global-auth-cache-key" risk:"medium" validate:"max=1000,cache_key" needs:"auth-url" doc:"Text with variables: Sluice keeps the answers of the server, and does not ask again about requests with the same text, path and host. Sluice adds the header Authorization and, unless the text names a cookie, the header Cookie."`
	CacheDuration keys.CacheTimes `key:"auth-cache-duration" from:"global-auth-cache-duration" default:"200 202 401 5m" risk:"medium" needs:"auth-cache-key" invalid:"zero" instead:"Sluice keeps only answers with Cache-Control or Expires" doc:"Times for which Sluice keeps answers without Cache-Control or Expires, each after the statuses that it is for."`

	Keepalive         int `key:"auth-keepalive" default:"0" off:"0" risk:"low" validate:"min=0,max=1000" needs:"auth-url" doc:"Idle connections to the server that each worker keeps apart from others. With 0 Sluice keeps connections to the server among those of upstream-keepalive-connections."`
	KeepaliveRequests int `key:"auth-keepalive-requests" default:"1000" risk:"low" validate:"min=0,max=1000000000" needs:"auth-keepalive" doc:"Maximum number of requests on one of these connections. 0 keeps none."`
	KeepaliveTimeout  int `key:"auth-keepalive-timeout" default:"60" risk:"low" validate:"min=0,max=31536000" needs:"auth-keepalive" unit:"seconds" doc:"Seconds that such an idle connection stays open. 0 keeps none."`

	TrustSecret string               `key:"auth-ssl-secret" risk:"medium" validate:"secret_name" needs:"auth-url" protects:"true" doc:"Secret with certificate authorities in ca.crt. Sluice then sends questions only to a server with a certificate of these for the host of auth-url, which must be https://. A Secret of another namespace must delegate itself with its annotation sluice.io/tls-delegation."`
	Snippet     keys.QuestionSnippet `key:"auth-snippet" from:"global-auth-snippet" empty:"zero" risk:"critical" allowed:"allow-snippet-annotations" needs:"auth-url" protects:"true" doc:"Directives of nginx for the requests to the server. Sluice copies them unchanged. auth_request_set with a variable $upstream_http_NAME holds for the locations of the paths."`

	Global bool `key:"enable-global-auth" default:"true" risk:"low" doc:"Whether the server of the setting global-auth-url decides about the requests if the Ingress has no auth-url."`

	// ofSettings is set if the values are those of the settings.
	ofSettings bool
}

// OfSettings reports whether the server is that of the settings.
func (e *ExternalAuth) OfSettings() bool { return e.ofSettings }

// inherits reports whether the settings hold, and records it. They hold all together or
// not at all.
func (e *ExternalAuth) inherits(r *reader) bool {
	const setting = "global-auth-url"
	own, enabled := strings.TrimSpace(r.given["auth-url"]), true
	if text, err := strconv.ParseBool(strings.TrimSpace(r.given["enable-global-auth"])); err == nil {
		enabled = text
	}
	url, _ := r.settings.Value(setting)
	e.ofSettings = own == "" && enabled && (url != "" || r.settings.Broken(setting))
	return e.ofSettings
}

// ofBoth reports whether a key counts beside the settings.
func (e *ExternalAuth) ofBoth(key string) bool { return key == "enable-global-auth" }

// pools returns the number of upstreams with connections of their own.
func (e *ExternalAuth) pools() int {
	if e.URL != "" && e.Keepalive > 0 {
		return 1
	}
	return 0
}

// Satisfy says how the protections of a path count together.
type Satisfy struct {
	Mode string `key:"satisfy" default:"all" risk:"low" validate:"oneof=any all" doc:"Whether a request must pass all of the lists of addresses, basic and external authentication of its path, or any of them."`
}
