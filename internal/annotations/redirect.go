package annotations

// Redirect redirects clients instead of passing their requests on.
type Redirect struct {
	// Temporal overrides Permanent, as in ingress-nginx.
	Temporal      string `key:"temporal-redirect" risk:"medium" validate:"http_url" instead:"the backends answer" costs:"all" doc:"URL to which every request for the paths is redirected temporarily."`
	TemporalCode  int    `key:"temporal-redirect-code" default:"302" risk:"low" validate:"oneof=301 302 303 307" needs:"temporal-redirect" doc:"Status of the temporary redirect."`
	Permanent     string `key:"permanent-redirect" risk:"medium" validate:"redirect_url" instead:"the backends answer" costs:"all" doc:"URL to which every request for the paths is redirected permanently."`
	PermanentCode int    `key:"permanent-redirect-code" default:"301" risk:"low" validate:"oneof=301 302 303 307 308" needs:"permanent-redirect" doc:"Status of the permanent redirect."`
}

// To returns the target, "" for no redirect, and the status.
func (r Redirect) To() (url string, code int) {
	if r.Temporal != "" {
		return r.Temporal, r.TemporalCode
	}
	return r.Permanent, r.PermanentCode
}

// WWWRedirect redirects the other name of each host to it: www.example.com for
// example.com, and the other way round.
type WWWRedirect struct {
	Enabled bool `key:"from-to-www-redirect" default:"false" risk:"low" costs:"all" doc:"Whether www.example.com is redirected to the host example.com of the Ingress, and example.com to the host www.example.com. A name that an Ingress serves is not redirected. For HTTPS, the certificate of the host has to be valid for both names."`
}

// AppRoot redirects requests for / of the host.
type AppRoot struct {
	Path string `key:"app-root" risk:"medium" validate:"path_and_variables" instead:"requests for / are not redirected" costs:"all" doc:"Path of the host to which requests for / are redirected, with status 302."`
}
