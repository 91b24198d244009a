package annotations

import "sluice/internal/keys"

// Affinity has a client go to the same endpoint each time.
type Affinity struct {
	Type   string `key:"affinity" risk:"low" validate:"oneof=cookie" instead:"clients go to each endpoint in turn" doc:"What keeps a client with an endpoint: a cookie."`
	Mode   string `key:"affinity-mode" default:"balanced" alone:"true" risk:"medium" validate:"oneof=balanced persistent" needs:"affinity" doc:"Whether some clients move to endpoints that come (balanced), or all stay where they are (persistent)."`
	Cookie string `key:"session-cookie-name" default:"INGRESSCOOKIE" alone:"true" risk:"medium" validate:"cookie_name" needs:"affinity" doc:"Name of the cookie."`
	// Expires and MaxAge are empty for none.
	Expires     keys.Optional[int] `key:"session-cookie-expires" alone:"true" risk:"medium" validate:"min=0,max=2147483647" needs:"affinity" unit:"seconds" doc:"Seconds until the cookie expires, as a date, for old browsers."`
	MaxAge      keys.Optional[int] `key:"session-cookie-max-age" alone:"true" risk:"medium" validate:"min=0,max=2147483647" needs:"affinity" unit:"seconds" doc:"Seconds until the cookie expires. Without it and session-cookie-expires the cookie is gone when the browser ends."`
	Path        string             `key:"session-cookie-path" alone:"true" risk:"medium" validate:"cookie_path,max=1024" needs:"affinity" doc:"Path that the cookie is sent for, instead of the path of the rule. A path that is a pattern needs it, as no browser knows patterns."`
	Domain      string             `key:"session-cookie-domain" alone:"true" risk:"medium" validate:"server_name" needs:"affinity" doc:"Domain that the cookie is sent to, instead of the host alone."`
	SameSite    string             `key:"session-cookie-samesite" alone:"true" risk:"low" validate:"oneofci=None Lax Strict" needs:"affinity" doc:"Attribute SameSite of the cookie."`
	Conditional bool               `key:"session-cookie-conditional-samesite-none" default:"false" off:"false f 0" alone:"true" risk:"low" needs:"affinity" doc:"Whether SameSite=None is left out for browsers that misread it."`
	Secure      bool               `key:"session-cookie-secure" default:"false" off:"false f 0" alone:"true" risk:"low" needs:"affinity" doc:"Whether the cookie is Secure over plain HTTP too; over HTTPS it always is."`
	OnFailure   bool               `key:"session-cookie-change-on-failure" default:"false" off:"false f 0" alone:"true" risk:"low" needs:"affinity" doc:"Whether a request that failed at the endpoint of its cookie is tried at another one, which the client then stays with."`
}
