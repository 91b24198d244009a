package settings

import "fmt"

// HTTP2 configures HTTP/2.
type HTTP2 struct {
	Enabled    bool `key:"use-http2" default:"true" empty:"zero" doc:"Whether clients may use HTTP/2 over TLS."`
	MaxStreams int  `key:"http2-max-concurrent-streams" default:"128" validate:"min=1,max=100000" doc:"Maximum number of concurrent requests on one connection."`
}

// HTTP3 configures HTTP/3, over QUIC.
type HTTP3 struct {
	Enabled        bool `key:"use-http3" default:"false" empty:"zero" doc:"Whether clients may use HTTP/3: nginx also listens on UDP, on the port for HTTPS, and answers over HTTPS advertise it by Alt-Svc. Needs an nginx with HTTP/3, and TLSv1.3 in ssl-protocols."`
	AdvertisedPort int  `key:"http3-advertised-port" default:"443" validate:"min=1,max=65535" needs:"use-http3" doc:"UDP port that Alt-Svc names: that of the Service or load balancer, which leads to the port of nginx."`
	// Silent is set if answers have no Alt-Svc of ours.
	Silent bool
}

// altSvc is the header that advertises HTTP/3 (RFC 7838).
const altSvc = "Alt-Svc"

// advertisedFor is how long, in seconds, clients remember that there is HTTP/3.
const advertisedFor = 86400

// Header returns the value of Alt-Svc.
func (h HTTP3) Header() string {
	return fmt.Sprintf("h3=\":%d\"; ma=%d", h.AdvertisedPort, advertisedFor)
}

// printedHTTP3 returns HTTP3, silent where a global header replaces its own.
func (s *Settings) printedHTTP3() HTTP3 {
	h := s.HTTP3
	h.Silent = s.GlobalHeaders.writes(altSvc)
	return h
}
