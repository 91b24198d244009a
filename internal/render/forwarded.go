package render

import (
	"strings"

	"sluice/internal/keys"
	"sluice/internal/settings"
)

// forwardedView is the configuration for proxies in front of nginx. Names of variables are
// without the "$".
type forwardedView struct {
	settings.Forwarded
	// Fronted is set if HTTPS connections come by a unix socket, with a PROXY header of
	// our own that has the client's address.
	Fronted bool
	// Active is set if the client's address comes from a proxy in front.
	Active bool
	// Both is set if it comes from a header that counts only if the PROXY header names
	// a trusted proxy. Lua then copies it to RealIPHeader.
	Both         bool
	RealIPHeader string
	// Blocks is set if there are block lists, and Blocked are the networks in them. Chained
	// is set if nginx's geo knows the header that names the client.
	Blocks, Chained bool
	Blocked         keys.CIDRs
	// Peers are the peers that may name the client's address.
	Peers []string
	// Doubted is set if a PROXY header may come from a peer that is not trusted.
	Doubted bool
	// Mixed is set if some HTTPS connections have no PROXY header although others do:
	// QUIC has none. Sender is the address that a PROXY header names, or that of the peer
	// without one.
	Mixed  bool
	Sender string
	// Vouched is the address that decides whether headers of a request are believed, if a
	// connection has an address for which no proxy vouches; "" otherwise.
	Vouched string
	// SentFor and SentHost are the headers that the client sent.
	SentFor, SentHost string
	// Scheme, Port and For are passed to backends. Peer is the peer of the connection,
	// and OwnPort the port where it arrived.
	Scheme, Port, For, Peer, OwnPort string
	HTTPPort, HTTPSPort              int
	// OwnPorts is set if clients only connect to HTTPPort and HTTPSPort, and no proxy
	// names another port, so that the port follows from the scheme.
	OwnPorts bool
}

// forwarded chooses the variables. Without trusted proxies they are nginx's own, which cost
// a request nothing.
func (r *rendering) forwarded() forwardedView {
	f := r.global.Forwarded
	v := forwardedView{
		Forwarded: f, Fronted: r.fronted, Active: f.Use || f.RealIP || f.ProxyProtocol, Both: f.Use && f.ProxyProtocol, RealIPHeader: f.ForHeader,
		SentFor: sentHeader(f.ForHeader), SentHost: sentHeader(f.HostHeader),
		Scheme: "scheme", Port: "pass_port", For: "remote_addr", Peer: "realip_remote_addr", OwnPort: "server_port",
		Blocks: r.global.BlockLists.On(), Blocked: r.global.BlockLists.Addresses, Chained: strings.EqualFold(f.ForHeader, "X-Forwarded-For"),
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
	v.Mixed, v.Doubted = f.ProxyProtocol && r.global.HTTP3.Enabled, f.ProxyProtocol && !f.Everybody()
	if v.Mixed || v.Doubted {
		v.Peer, v.OwnPort = "announced_addr", "arrived_port"
	}
	if v.Sender = "proxy_protocol_addr"; v.Mixed {
		v.Sender = "announced_addr"
	}
	if v.Mixed && v.Doubted {
		v.Vouched = "vouched_addr"
	}
	if v.Both {
		v.RealIPHeader = "X-Real-Ip-" + r.env.Token
	}
	return v
}

// otherFormsView has the names of headers, and the Lua file that takes those from requests whose names
// have "_" for "-".
type otherFormsView struct {
	Script string
	Names  []string
}

// otherForms returns the headers that are believed if a trusted proxy sends them, nil if they have no
// other forms. nginx finds those by the same variables, if it accepts such names, and a proxy may pass
// on those of a client.
func (r *rendering) otherForms() *otherFormsView {
	f := r.view.Forwarded
	if !r.underscores || !f.Use && !f.Both {
		return nil
	}
	return &otherFormsView{r.env.entry("other_forms"), []string{f.ForHeader, "X-Forwarded-Host", "X-Forwarded-Port", "X-Forwarded-Proto"}}
}

// front adds the connections from our own socket. If other connections have no PROXY
// header, that distinguishes them.
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

// usualHTTPSPort is the port of HTTPS for backends.
const usualHTTPSPort = 443

// sentHeader is the variable with a header of the request.
func sentHeader(name string) string {
	return "http_" + strings.ToLower(strings.ReplaceAll(name, "-", "_"))
}
