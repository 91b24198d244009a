package model

import (
	"slices"
	"strconv"
	"strings"
)

// Protocol is the protocol of a Stream.
type Protocol string

// The protocols.
const (
	TCP Protocol = "TCP"
	UDP Protocol = "UDP"
)

// Stream is a TCP or UDP service: nginx passes connections to a port on to the endpoints
// of one Service, unread.
//
// Its endpoints are in Static, not in Dynamic: stock nginx has no Lua for streams that
// could receive endpoints while it runs, so that a change needs a reload. See
// docs/decisions/0008-stream-endpoints.md.
type Stream struct {
	Protocol Protocol `json:"protocol"`
	// Port is where nginx listens. No two Streams have the same Key.
	Port int `json:"port"`
	// AcceptsProxy is set if each connection begins with a PROXY header; SendsProxy if
	// nginx sends one to the endpoints. Both are for TCP only.
	AcceptsProxy bool `json:"acceptsProxy,omitempty"`
	SendsProxy   bool `json:"sendsProxy,omitempty"`
	// Service is the Service and port that were asked for.
	Service ServicePort `json:"service"`
	// Endpoints are sorted and without duplicates; there is at least one.
	Endpoints []Endpoint `json:"endpoints,omitempty"`
	// Snippet is the text of a stream snippet, empty for a service. It listens on Listens;
	// of the other fields, it has only those below.
	Snippet string       `json:"snippet,omitempty"`
	Listens []StreamPort `json:"listens,omitempty"`
	// Source is the ConfigMap that asked for it, and Field its key there; or the Ingress of
	// the snippet, and its annotation. The settings have one snippet, too.
	Source ObjectRef `json:"source"`
	Field  string    `json:"field"`
}

// StreamPort is a port on which nginx listens at the stream level.
type StreamPort struct {
	Protocol Protocol `json:"protocol"`
	Number   int      `json:"number"`
}

// Ports are the ports on which nginx listens for the stream.
func (s *Stream) Ports() []StreamPort {
	if s.Snippet != "" {
		return s.Listens
	}
	return []StreamPort{{s.Protocol, s.Port}}
}

// Key identifies the stream, such as "tcp-9000", or "snippet-shop/web" for a snippet.
func (s *Stream) Key() string {
	if s.Snippet != "" {
		return "snippet-" + s.Source.Namespace + "/" + s.Source.Name
	}
	if s.Protocol == UDP {
		return "udp-" + strconv.Itoa(s.Port)
	}
	return "tcp-" + strconv.Itoa(s.Port)
}

// Passthrough is a host whose TLS connections are passed on unread, by the server name
// that the client sends. The backend presents the certificate.
type Passthrough struct {
	// Host is a precise name or "*.name". Aliases are further precise names.
	Host    string   `json:"host"`
	Aliases []string `json:"aliases,omitempty"`
	// Except are the names below a wildcard Host that have other servers: nginx ends
	// their TLS.
	Except []string `json:"except,omitempty"`
	// Service is the Service and port of the host's path /.
	Service ServicePort `json:"service"`
	// Endpoints are sorted and without duplicates. Without any, connections are closed,
	// because only the backend may end their TLS.
	Endpoints []Endpoint `json:"endpoints,omitempty"`
	// Source is the Ingress that asked for it, and Field its annotation.
	Source ObjectRef `json:"source"`
	Field  string    `json:"field"`
}

// Takes reports whether connections for a name, in lower case, are passed on with the
// host.
func (p *Passthrough) Takes(name string) bool {
	if name == p.Host || slices.Contains(p.Aliases, name) {
		return true
	}
	parent, wildcard := strings.CutPrefix(p.Host, "*.")
	label, rest, found := strings.Cut(name, ".")
	return wildcard && found && label != "" && rest == parent && !slices.Contains(p.Except, name)
}
