package model

import (
	"slices"
	"strconv"
	"strings"
)

// Protocol is what a Stream is spoken with.
type Protocol string

// The protocols.
const (
	TCP Protocol = "TCP"
	UDP Protocol = "UDP"
)

// Stream is a TCP or UDP service: a port of nginx that is passed on to the
// endpoints of one Service, without a look at what is said.
//
// Its endpoints are in Static, those of HTTP in Dynamic: stock nginx has no Lua
// for streams that could be told of endpoints while it runs, so that their
// change is a reload. See docs/decisions/0008-stream-endpoints.md.
type Stream struct {
	Protocol Protocol `json:"protocol"`
	// Port is where nginx listens. No two Streams have the same Key.
	Port int `json:"port"`
	// AcceptsProxy: each connection begins with a PROXY header. SendsProxy: the
	// endpoints are sent one. Both are for TCP only.
	AcceptsProxy bool `json:"acceptsProxy,omitempty"`
	SendsProxy   bool `json:"sendsProxy,omitempty"`
	// Service is the Service and port that were asked for.
	Service ServicePort `json:"service"`
	// Endpoints are sorted and without duplicates; there is at least one.
	Endpoints []Endpoint `json:"endpoints,omitempty"`
	// Source is the ConfigMap that asked for it, and Field its key there.
	Source ObjectRef `json:"source"`
	Field  string    `json:"field"`
}

// Key tells the stream from all others: "tcp-9000".
func (s *Stream) Key() string {
	if s.Protocol == UDP {
		return "udp-" + strconv.Itoa(s.Port)
	}
	return "tcp-" + strconv.Itoa(s.Port)
}

// Passthrough is a host whose TLS connections are passed on as they are, by the
// name that the client asks for: the backend presents the certificate.
type Passthrough struct {
	// Host is a precise name or "*.name". Aliases are further precise names.
	Host    string   `json:"host"`
	Aliases []string `json:"aliases,omitempty"`
	// Except are the names that a wildcard Host stands for but others have: their
	// TLS ends at nginx.
	Except []string `json:"except,omitempty"`
	// Service is the Service and port of the host's path /.
	Service ServicePort `json:"service"`
	// Endpoints are sorted and without duplicates. If there is none, connections
	// are closed: the host's TLS is not ours to end.
	Endpoints []Endpoint `json:"endpoints,omitempty"`
	// Source is the Ingress that asked for it, and Field its annotation.
	Source ObjectRef `json:"source"`
	Field  string    `json:"field"`
}

// Takes reports whether connections that ask for a name, in lower case, are
// passed through with the host.
func (p *Passthrough) Takes(name string) bool {
	if name == p.Host || slices.Contains(p.Aliases, name) {
		return true
	}
	parent, wildcard := strings.CutPrefix(p.Host, "*.")
	label, rest, found := strings.Cut(name, ".")
	return wildcard && found && label != "" && rest == parent && !slices.Contains(p.Except, name)
}
