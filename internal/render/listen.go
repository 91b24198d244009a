package render

import (
	"slices"
	"strconv"
	"strings"

	"sluice/internal/model"
)

// listenView is one listen directive.
type listenView struct {
	// Socket is a unix socket, "" for an Address with a port.
	Socket, Address                             string
	SSL, HTTP2, QUIC, Default, ReusePort, Proxy bool
	// Backlog is the limit of connections that wait to be accepted, 0 for nginx's own.
	Backlog int
}

// socketBacklog is more than the machine allows. With TCP the client tries again, but a
// full unix socket refuses at once.
// Source: https://man7.org/linux/man-pages/man2/listen.2.html
const socketBacklog = 65535

// listens returns the listen directives of a server.
func (r *rendering) listens() []listenView {
	var all []listenView
	for _, address := range r.addresses() {
		all = append(all, listenView{Address: address + strconv.Itoa(r.env.HTTPPort)})
	}
	if !r.fronted {
		for _, address := range r.addresses() {
			all = append(all, listenView{Address: address + strconv.Itoa(r.env.HTTPSPort), SSL: true})
		}
	}
	for i := range all {
		all[i].Proxy = r.global.Forwarded.ProxyProtocol
	}
	if r.fronted {
		all = append(all, listenView{Socket: r.env.socket("https"), SSL: true, Proxy: true})
	}
	return all
}

// quicListens returns the listen directives for HTTP/3. QUIC has no PROXY header, and
// reaches nginx even if the stream level accepts the TCP connections.
func (r *rendering) quicListens() []listenView {
	if !r.global.HTTP3.Enabled {
		return nil
	}
	var all []listenView
	for _, address := range r.addresses() {
		all = append(all, listenView{Address: address + strconv.Itoa(r.env.HTTPSPort), QUIC: true})
	}
	return all
}

// defaultListens returns the listen directives of the catch-all server. Its options of a
// port hold for all servers. The packets of a QUIC connection reach the same worker only if
// each has its own socket.
func (r *rendering) defaultListens() []listenView {
	all := append(r.listens(), r.quicListens()...)
	for i := range all {
		all[i].Default = true
		all[i].ReusePort = all[i].QUIC || r.global.Listen.ReusePort && all[i].Socket == ""
		if all[i].Socket != "" {
			all[i].Backlog = socketBacklog
		}
		all[i].HTTP2 = all[i].SSL && r.global.HTTP2.Enabled && !r.env.Capabilities.HTTP2Directive
	}
	return all
}

// addresses returns the text before each port, "" for all IPv4 addresses.
func (r *rendering) addresses() []string {
	ipv6 := r.env.IPv6 && !r.global.Listen.DisableIPv6
	given := r.env.Addresses
	if own := r.global.Listen.Bind(); len(own) > 0 {
		given = own
	}
	var all, others []string
	for _, address := range given {
		switch {
		case !strings.Contains(address, ":"):
			all = append(all, address+":")
		case ipv6:
			all = append(all, "["+address+"]:")
		default:
			others = append(others, "["+address+"]:")
		}
	}
	switch {
	case len(all) > 0:
		return all
	case len(others) > 0:
		return others // rather than the default of nginx, which is all addresses
	case ipv6:
		return []string{"", "[::]:"}
	}
	return []string{""}
}

// passedHosts are the hosts whose TLS is passed through, each once.
func passedHosts(passed []model.Passthrough) []string {
	var hosts []string
	for _, p := range passed {
		hosts = append(hosts, p.Host)
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

// listenOf returns the listen directives of a server. One whose TLS is passed through has
// none for QUIC, so that nginx does not answer in place of the backend.
func (r *rendering) listenOf(s *model.Server) *chunk {
	if _, passed := slices.BinarySearch(r.quicPassed(), s.Host); passed {
		return r.listenPassed
	}
	return r.listen
}

// quicPassedView is the server for HTTP/3 of the hosts whose TLS is passed through.
type quicPassedView struct {
	Listens []listenView
	Hosts   []string
}

// refuseQUIC prints a server that refuses HTTP/3 for the hosts whose TLS is passed through: a
// wildcard host of somebody else would take their requests otherwise.
func (r *rendering) refuseQUIC() {
	if hosts := r.quicPassed(); len(hosts) > 0 {
		r.must("quic-passed", quicPassedView{r.quicListens(), hosts}, inHTTP...)
	}
}

// quicPassed are the hosts whose text differs because of HTTP/3.
func (r *rendering) quicPassed() []string {
	if !r.global.HTTP3.Enabled {
		return nil
	}
	return r.passedHosts
}
