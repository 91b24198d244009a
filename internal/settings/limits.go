package settings

// ClientLimits is what clients are told that exceed the limits of an Ingress, and how
// fast answers are sent where no annotation says otherwise.
type ClientLimits struct {
	Connections int `key:"limit-conn-status-code" default:"503" validate:"min=400,max=599" doc:"Status for requests beyond limit-connections."`
	Requests    int `key:"limit-req-status-code" default:"503" validate:"min=400,max=599" doc:"Status for requests beyond limit-rps and limit-rpm."`
	Rate        int `key:"limit-rate" default:"0" validate:"min=0,max=1000000000" unit:"kilobytes" doc:"Kilobytes of an answer that are sent in a second; 0 is any number."`
	RateAfter   int `key:"limit-rate-after" default:"0" validate:"min=0,max=1000000000" unit:"kilobytes" doc:"Kilobytes of an answer that are sent before limit-rate holds."`
}

// usualLimitStatus is nginx's own, which need not be said.
const usualLimitStatus = 503

// ConnectionStatus is 0 for nginx's own.
func (c ClientLimits) ConnectionStatus() int { return unlessUsual(c.Connections) }

// RequestStatus is 0 for nginx's own.
func (c ClientLimits) RequestStatus() int { return unlessUsual(c.Requests) }

func unlessUsual(status int) int {
	if status == usualLimitStatus {
		return 0
	}
	return status
}
