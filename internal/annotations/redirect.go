package annotations

// Redirect sends clients elsewhere instead of passing their requests on.
type Redirect struct {
	// Temporal wins where both are given, as in ingress-nginx.
	Temporal      string `key:"temporal-redirect" risk:"medium" validate:"http_url" instead:"the backends answer" doc:"URL that every request of the paths is redirected to for the time being."`
	TemporalCode  int    `key:"temporal-redirect-code" default:"302" risk:"low" validate:"oneof=301 302 303 307" needs:"temporal-redirect" instead:"the backends answer" doc:"Status of that redirect."`
	Permanent     string `key:"permanent-redirect" risk:"medium" validate:"redirect_url" instead:"the backends answer" doc:"URL that every request of the paths is redirected to for good."`
	PermanentCode int    `key:"permanent-redirect-code" default:"301" risk:"low" validate:"oneof=301 302 303 307 308" needs:"permanent-redirect" instead:"the backends answer" doc:"Status of that redirect."`
}

// To is where clients are sent, "" for nowhere, and with which status.
func (r Redirect) To() (url string, code int) {
	if r.Temporal != "" {
		return r.Temporal, r.TemporalCode
	}
	return r.Permanent, r.PermanentCode
}

// AppRoot sends clients that ask for / of the host to the application.
type AppRoot struct {
	Path string `key:"app-root" risk:"medium" validate:"path_and_variables" instead:"requests for / are not redirected" doc:"Path of the host that requests for / are redirected to, with status 302."`
}
