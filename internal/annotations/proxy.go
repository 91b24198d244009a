package annotations

import (
	"slices"

	"sluice/internal/keys"
	"sluice/internal/settings"
)

// Timeouts are how long nginx waits for a backend.
type Timeouts struct {
	Connect int `key:"proxy-connect-timeout" from:"proxy-connect-timeout" risk:"low" validate:"min=1,max=31536000" unit:"seconds" doc:"Seconds to connect to a backend."`
	Send    int `key:"proxy-send-timeout" from:"proxy-send-timeout" risk:"low" validate:"min=1,max=31536000" unit:"seconds" doc:"Seconds between two writes to a backend."`
	Read    int `key:"proxy-read-timeout" from:"proxy-read-timeout" risk:"low" validate:"min=1,max=31536000" unit:"seconds" doc:"Seconds between two reads from a backend."`
}

// BodySize is how large the body of a request may be.
type BodySize struct {
	Max keys.Size `key:"proxy-body-size" from:"proxy-body-size" risk:"medium" doc:"Largest body of a request. A request with a larger one gets 413. 0 means no limit."`
}

// BodyBuffer is how much of the body of a request is kept in memory.
type BodyBuffer struct {
	Size keys.Size `key:"client-body-buffer-size" from:"client-body-buffer-size" risk:"low" validate:"min=1,max=16777216" doc:"Buffer for the body of a request; a larger body goes to a file. Each request may hold one: 16m at most."`
}

// UpstreamHost is the host that backends are told.
type UpstreamHost struct {
	Name string `key:"upstream-vhost" risk:"low" validate:"host_and_variables" doc:"Header Host of the requests to the backends, instead of the one that the client sent."`
}

// ConnectionHeader is what backends are told of the connection.
type ConnectionHeader struct {
	Value string `key:"connection-proxy-header" risk:"low" validate:"oneof=close keep-alive" doc:"Header Connection of the requests to the backends; WebSockets do not work with it."`
}

// NextUpstream is when a request is tried again with another endpoint.
type NextUpstream struct {
	When    keys.Words         `key:"proxy-next-upstream" from:"proxy-next-upstream" risk:"medium" validate:"dive,oneof=error timeout invalid_header http_500 http_502 http_503 http_504 http_403 http_404 http_429 non_idempotent off" doc:"What makes nginx try another endpoint."`
	Tries   keys.Optional[int] `key:"proxy-next-upstream-tries" from:"proxy-next-upstream-tries" risk:"low" validate:"min=0,max=1000" doc:"How often a request is tried, at most 16 times; 0 is each endpoint once."`
	Timeout keys.Optional[int] `key:"proxy-next-upstream-timeout" from:"proxy-next-upstream-timeout" risk:"low" validate:"min=0,max=31536000" unit:"seconds" doc:"Seconds in which a request may be tried again; 0 is without limit."`
}

// Print gives what differs from the ConfigMap. retry-non-idempotent adds its
// word to the list of an annotation too.
func (n NextUpstream) Print(at Place) any {
	s := at.Settings
	if slices.Equal(n.When, s.Proxy.NextUpstream) {
		n.When = nil
	} else {
		n.When = settings.RetryWords(n.When, s.Proxy)
	}
	return changed(n, NextUpstream{Tries: s.Proxy.NextUpstreamTries, Timeout: s.Proxy.NextUpstreamTimeout})
}
