package annotations

import "sluice/internal/keys"

// Affinity keeps a client on the same endpoint.
type Affinity struct {
	Type        string             `key:"affinity" risk:"low" validate:"oneof=cookie" instead:"clients go to each endpoint in turn" costs:"all" doc:"What keeps a client with an endpoint: a cookie."`
	Mode        string             `key:"affinity-mode" default:"balanced" risk:"medium" validate:"oneof=balanced persistent" needs:"affinity" doc:"With balanced, some clients move to new endpoints. With persistent, all stay with their endpoint."`
	Cookie      string             `key:"session-cookie-name" default:"INGRESSCOOKIE" risk:"medium" validate:"cookie_name" needs:"affinity" doc:"Name of the cookie."`
	Expires     keys.Optional[int] `key:"session-cookie-expires" risk:"medium" validate:"min=0,max=2147483647" needs:"affinity" unit:"seconds" doc:"Seconds until the cookie expires, as a date, for old browsers."`
	MaxAge      keys.Optional[int] `key:"session-cookie-max-age" risk:"medium" validate:"min=0,max=2147483647" needs:"affinity" unit:"seconds" doc:"Seconds until the cookie expires. Without it and session-cookie-expires, the cookie ends with the session of the browser."`
	Path        string             `key:"session-cookie-path" risk:"medium" validate:"cookie_path,max=1024" needs:"affinity" doc:"Path of the cookie. Default: the path of the rule. Required if the path is a pattern, because browsers do not know patterns."`
	Domain      string             `key:"session-cookie-domain" risk:"medium" validate:"server_name" needs:"affinity" doc:"Domain of the cookie. Default: only the host."`
	SameSite    string             `key:"session-cookie-samesite" risk:"low" validate:"oneofci=None Lax Strict" needs:"affinity" doc:"Attribute SameSite of the cookie."`
	Conditional bool               `key:"session-cookie-conditional-samesite-none" default:"false" off:"false f 0" risk:"low" needs:"affinity" doc:"Whether SameSite=None is left out for browsers that misread it."`
	Secure      bool               `key:"session-cookie-secure" default:"false" off:"false f 0" risk:"low" needs:"affinity" doc:"Whether the cookie is Secure also over plain HTTP. Over HTTPS it always is."`
	OnFailure   bool               `key:"session-cookie-change-on-failure" default:"false" off:"false f 0" risk:"low" needs:"affinity" doc:"Whether a request that failed at the endpoint of its cookie is tried at another one, and the client stays with that one."`
}
