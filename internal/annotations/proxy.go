package annotations

import (
	"slices"

	"sluice/internal/keys"
	"sluice/internal/settings"
)

// Timeouts limits how long nginx waits for a backend.
type Timeouts struct {
	Connect int `key:"proxy-connect-timeout" from:"proxy-connect-timeout" risk:"low" validate:"min=1,max=31536000" unit:"seconds" doc:"Seconds to connect to a backend."`
	Send    int `key:"proxy-send-timeout" from:"proxy-send-timeout" risk:"low" validate:"min=1,max=31536000" unit:"seconds" doc:"Seconds between two writes to a backend."`
	Read    int `key:"proxy-read-timeout" from:"proxy-read-timeout" risk:"low" validate:"min=1,max=31536000" unit:"seconds" doc:"Seconds between two reads from a backend."`
}

// BodySize limits the body of a request.
type BodySize struct {
	Max keys.Size `key:"proxy-body-size" from:"proxy-body-size" risk:"medium" doc:"Largest body of a request. A request with a larger one gets 413. 0 means no limit."`
}

// BodyBuffer limits the part of the body of a request in memory.
type BodyBuffer struct {
	Size keys.Size `key:"client-body-buffer-size" from:"client-body-buffer-size" risk:"low" validate:"min=1,max=16777216" doc:"Buffer for the body of a request. A larger body goes to a file. Each request can use one buffer, so the maximum is 16m."`
}

// UpstreamHost sets the header Host for backends.
type UpstreamHost struct {
	Name string `key:"upstream-vhost" risk:"low" validate:"host_and_variables" doc:"Header Host of requests to the backends. Default: the one from the client."`
}

// ConnectionHeader sets the header Connection for backends.
type ConnectionHeader struct {
	Value string `key:"connection-proxy-header" risk:"low" validate:"oneof=close keep-alive" doc:"Header Connection of requests to the backends. With it, WebSockets do not work."`
}

// NextUpstream configures when nginx tries another endpoint.
type NextUpstream struct {
	When    keys.Words         `key:"proxy-next-upstream" from:"proxy-next-upstream" risk:"medium" validate:"dive,oneof=error timeout invalid_header http_500 http_502 http_503 http_504 http_403 http_404 http_429 non_idempotent off" doc:"What makes nginx try another endpoint."`
	Tries   keys.Optional[int] `key:"proxy-next-upstream-tries" from:"proxy-next-upstream-tries" risk:"low" validate:"min=0,max=1000" doc:"How often nginx tries a request, at most 16 times. 0 means once for each endpoint."`
	Timeout keys.Optional[int] `key:"proxy-next-upstream-timeout" from:"proxy-next-upstream-timeout" risk:"low" validate:"min=0,max=31536000" unit:"seconds" doc:"Seconds in which nginx may try a request again. 0 means no limit."`
}

// Print returns the differences from the ConfigMap. The setting retry-non-idempotent also
// adds its word to the list of an annotation.
func (n NextUpstream) Print(at Place) any {
	s := at.Settings
	if slices.Equal(n.When, s.Proxy.NextUpstream) {
		n.When = nil
	} else {
		n.When = settings.RetryWords(n.When, s.Proxy)
	}
	return changed(n, NextUpstream{Tries: s.Proxy.NextUpstreamTries, Timeout: s.Proxy.NextUpstreamTimeout})
}
