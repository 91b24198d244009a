package settings

// ClientLimits configures the answer to clients above the limits of an Ingress, and the
// default limit-rate.
type ClientLimits struct {
	Connections int    `key:"limit-conn-status-code" default:"503" validate:"min=400,max=599" doc:"Status for requests beyond limit-connections."`
	Requests    int    `key:"limit-req-status-code" default:"503" validate:"min=400,max=599" doc:"Status for requests beyond limit-rps and limit-rpm."`
	Rate        int    `key:"limit-rate" default:"0" validate:"min=0,max=1000000000" unit:"kilobytes" doc:"Kilobytes of an answer that nginx sends in a second. 0 means no limit."`
	Variable    string `key:"limit-conn-zone-variable" default:"$binary_remote_addr" validate:"limit_key" doc:"Whose requests limit-connections, limit-rps and limit-rpm count together, on each path without the annotation limit-by: those of one client address ($binary_remote_addr or $remote_addr), of one host ($server_name or $host), or with the same value of a header ($http_NAME) or cookie ($cookie_NAME). The values of limit-by mean the same. A request without the header or cookie counts by its address."`
	Divided     bool   `key:"limit-divide-by-replicas" default:"false" empty:"zero" doc:"Whether limit-rps, limit-rpm and limit-connections hold for all replicas together: each replica allows its share, rounded up, as each counts for itself. The number of replicas is that of the ready endpoints of --publish-service. A new number counts after half a minute."`
	RateAfter   int    `key:"limit-rate-after" default:"0" validate:"min=0,max=1000000000" unit:"kilobytes" doc:"Kilobytes of an answer that nginx sends before limit-rate applies."`
}

// ConnectionStatus returns the status, 0 for the default of nginx.
func (c ClientLimits) ConnectionStatus() int { return unlessUsual(c.Connections) }

// RequestStatus returns the status, 0 for the default of nginx.
func (c ClientLimits) RequestStatus() int { return unlessUsual(c.Requests) }

func unlessUsual(status int) int {
	if status == 503 {
		return 0
	}
	return status
}
