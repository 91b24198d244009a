package annotations

// ExternalAuth has another server say which requests may pass.
type ExternalAuth struct {
	URL             string `key:"auth-url" empty:"zero" risk:"high" validate:"auth_url" protects:"true" doc:"URL that is asked about each request: 2xx lets it pass, 401 and 403 refuse it, and anything else is answered by 500. The controller resolves its host; $host is that of the rule."`
	Method          string `key:"auth-method" risk:"low" validate:"oneof=GET HEAD POST PUT PATCH DELETE CONNECT OPTIONS TRACE" needs:"auth-url" doc:"Method of the question instead of GET; the headers X-Original-URI and X-Scheme are sent with it."`
	ProxySetHeaders string `key:"auth-proxy-set-headers" risk:"medium" validate:"configmap_name" needs:"auth-url" doc:"ConfigMap whose data are headers of the question, each with its value, in which variables such as $host may be. One of another namespace has to delegate itself, by its annotation sluice.io/delegation."`
	RequestRedirect string `key:"auth-request-redirect" risk:"medium" validate:"auth_text" needs:"auth-url" doc:"Header X-Auth-Request-Redirect of the question, instead of what the client asked for."`
	ResponseHeaders string `key:"auth-response-headers" risk:"medium" validate:"response_headers" needs:"auth-url" doc:"Headers of the answer that backends get, separated by commas. Those of the client with these names are dropped."`
	SignIn          string `key:"auth-signin" risk:"high" validate:"signin_url" needs:"auth-url" doc:"URL that clients are redirected to, with status 302, where the answer is 401."`
	RedirectParam   string `key:"auth-signin-redirect-param" default:"rd" risk:"medium" validate:"parameter_name" needs:"auth-signin" doc:"Parameter of that URL that says what the client asked for."`
	AlwaysSetCookie bool   `key:"auth-always-set-cookie" default:"false" risk:"low" needs:"auth-url" doc:"Whether clients get the cookie of the answer with refusals and errors too."`
}
