package annotations

// ExternalAuth lets another server decide which requests may pass.
type ExternalAuth struct {
	URL             string `key:"auth-url" empty:"zero" risk:"high" validate:"auth_url" protects:"true" doc:"URL of the server that Sluice asks about each request: 2xx lets the request pass, 401 and 403 refuse it, and for any other answer clients get 500. The controller resolves the host; $host as the host is the host of the rule."`
	Method          string `key:"auth-method" risk:"low" validate:"oneof=GET HEAD POST PUT PATCH DELETE CONNECT OPTIONS TRACE" needs:"auth-url" doc:"HTTP method Sluice asks the server with. Default: GET. If set, Sluice also sends the headers X-Original-URI and X-Scheme."`
	ProxySetHeaders string `key:"auth-proxy-set-headers" risk:"medium" validate:"configmap_name" needs:"auth-url" doc:"ConfigMap with headers that Sluice sends to the server. Values can have variables such as $host. Sluice needs the permission to read it (rbac.headerConfigMaps of the chart). A ConfigMap of another namespace has to delegate itself, with its annotation sluice.io/delegation."`
	RequestRedirect string `key:"auth-request-redirect" risk:"medium" validate:"auth_text" needs:"auth-url" doc:"Value of the header X-Auth-Request-Redirect that the server gets. By default it is the URI that the client asked for."`
	ResponseHeaders string `key:"auth-response-headers" risk:"medium" validate:"response_headers" needs:"auth-url" doc:"Headers of the answer of the server that backends get, separated by commas. Backends never get headers with these names from the client."`
	SignIn          string `key:"auth-signin" risk:"high" validate:"signin_url" needs:"auth-url" doc:"URL that clients are redirected to, with status 302, if the server answers 401."`
	RedirectParam   string `key:"auth-signin-redirect-param" default:"rd" risk:"medium" validate:"parameter_name" needs:"auth-signin" doc:"Parameter of auth-signin that has the URL that the client asked for."`
	AlwaysSetCookie bool   `key:"auth-always-set-cookie" default:"false" risk:"low" needs:"auth-url" doc:"Whether clients also get the cookies of the server with refusals and errors."`
}
