package render

import (
	"strings"

	"sluice/internal/settings"
)

// forwardedView is what the http level says of the proxies in front. The fields
// that name variables do it without the "$".
type forwardedView struct {
	settings.Forwarded
	// Fronted: HTTPS connections come by a unix socket, with a PROXY header of our
	// own that has the client's address.
	Fronted bool
	// Active: the client's address is taken from what a proxy in front says.
	Active bool
	// Both: it is in a header that is believed only if the PROXY header comes
	// from a proxy in front; Lua puts it into RealIPHeader then.
	Both         bool
	RealIPHeader string
	// Peers are who is believed when it says whose address it passes on.
	Peers []string
	// Doubted: a PROXY header may come from somebody who is not believed.
	Doubted bool
	// SentFor and SentHost are the headers as they came.
	SentFor, SentHost string
	// Scheme, Port and For are what backends are told; Peer is who the
	// connection is from and OwnPort where it arrived.
	Scheme, Port, For, Peer, OwnPort string
	HTTPPort, HTTPSPort              int
	// OwnPorts: clients connect to HTTPPort and HTTPSPort only, and nothing in front
	// names another port, so that the scheme says the port.
	OwnPorts bool
}

// forwarded decides which variables say what. Where nothing in front is
// believed they are nginx's own, which cost a request nothing.
func (r *rendering) forwarded() forwardedView {
	f := r.global.Forwarded
	v := forwardedView{
		Forwarded: f, Fronted: r.fronted, Active: f.Use || f.RealIP || f.ProxyProtocol, Both: f.Use && f.ProxyProtocol, RealIPHeader: f.ForHeader,
		SentFor: sentHeader(f.ForHeader), SentHost: sentHeader(f.HostHeader),
		Scheme: "scheme", Port: "pass_port", For: "remote_addr", Peer: "realip_remote_addr", OwnPort: "server_port",
		HTTPPort: r.env.HTTPPort, HTTPSPort: r.env.HTTPSPort, OwnPorts: !f.Use && !f.ProxyProtocol && !r.fronted,
	}
	if f.Use || f.ProxyProtocol {
		v.Scheme = "pass_access_scheme"
	} else if r.env.HTTPSPort == usualHTTPSPort {
		v.Port = "server_port"
	}
	if v.Active {
		v.Peers = f.Trusted
	}
	if r.fronted {
		v.front()
	}
	if f.Use && f.Full {
		v.For = "full_x_forwarded_for"
	}
	if f.ProxyProtocol {
		v.Peer, v.OwnPort = "proxy_protocol_addr", "proxy_protocol_server_port"
		v.RealIPHeader = "proxy_protocol"
	}
	if v.Doubted = f.ProxyProtocol && !f.Everybody(); v.Doubted {
		v.Peer, v.OwnPort = "announced_addr", "arrived_port"
	}
	if v.Both {
		v.RealIPHeader = "X-Real-Ip-" + r.env.Token
	}
	return v
}

// front adds what the connections that come by our own socket need. The others
// are told apart from them by having no PROXY header, where none is accepted.
func (v *forwardedView) front() {
	v.Peers = append([]string{"unix:"}, v.Peers...)
	if !v.ProxyProtocol {
		v.Both = v.Active
		v.Peer, v.OwnPort = "announced_addr", "arrived_port"
		v.RealIPHeader = "proxy_protocol"
		if v.Port == "server_port" {
			v.Port = "arrived_port"
		}
	}
	v.Active = true
}

// usualHTTPSPort is the port that backends are told of HTTPS.
const usualHTTPSPort = 443

// sentHeader is the variable with a header of the request.
func sentHeader(name string) string {
	return "http_" + strings.ToLower(strings.ReplaceAll(name, "-", "_"))
}
