package model

import (
	"slices"
	"strings"
)

// Dynamic is the part of the configuration that a running nginx gets without a reload.
type Dynamic struct {
	// Backends are sorted by Key.
	Backends []*Backend `json:"backends,omitempty"`
	// Certificates are sorted by ID: those of Names, and those that nginx presents to
	// backends.
	Certificates []*Certificate `json:"certificates,omitempty"`
	// Names assign certificates to server names, sorted by Host. The Host "" is the
	// default certificate.
	Names []CertificateName `json:"names,omitempty"`
	// Stapling is set if certificates of Names are presented with an OCSP response. Staples
	// are the responses, sorted by the ID of their Certificate.
	Stapling bool      `json:"stapling,omitempty"`
	Staples  []*Staple `json:"staples,omitempty"`
	// TicketKey encrypts the session tickets of clients; empty for a random key of nginx.
	TicketKey Secret `json:"ticketKey,omitempty"`
	// IPv4Names is set if the DNS names of backends have IPv4 addresses only.
	IPv4Names bool `json:"ipv4Names,omitempty"`
	// Users are sorted by ID. Workers read these files at each request that needs one.
	Users []*UserFile `json:"users,omitempty"`
}

// Staple is an OCSP response. It never changes.
type Staple struct {
	// ID is that of the Certificate.
	ID string `json:"id"`
	// Response is DER.
	Response []byte `json:"response"`
	// Until is when the response expires, in seconds since 1970.
	Until int64 `json:"until"`
}

// LongestStaple is the maximum size of an OCSP response. With its entry in nginx's memory it
// has one page.
const LongestStaple = 3900

// UserFile is an htpasswd file of users and hashes of their passwords.
type UserFile struct {
	// ID changes with the content, and reveals nothing of it.
	ID string `json:"id"`
	// Content is secret: no view, log line or configuration contains it.
	Content []byte `json:"-"`
}

// UsersDir is the folder of user files below the state directory, which file names in
// nginx.conf are relative to.
const UsersDir = "users"

// Memory is the sizes, in bytes, of nginx's dictionaries for Dynamic. They cannot
// change while nginx runs.
type Memory struct {
	Backends, Certificates int64
}

// Backend is a set of endpoints that nginx spreads requests over.
type Backend struct {
	// Key identifies it: a backend with another meaning has another key. It is opaque,
	// except that those of one Service begin alike.
	Key string `json:"key"`
	// Target is its Service and port. A host that is not a Service is in Host instead;
	// the default backend has no Port.
	Target Target `json:"target"`
	// Endpoints are sorted and without duplicates.
	Endpoints []Endpoint `json:"endpoints,omitempty"`
	// Failing are the endpoints that fail their health check. Endpoints does not have them,
	// unless all fail: then it has all.
	Failing []Failing `json:"failing,omitempty"`
	// ExternalName, if not empty, is a DNS name that the controller resolves
	// to the endpoints, each with port ExternalPort.
	ExternalName string `json:"externalName,omitempty"`
	ExternalPort int    `json:"externalPort,omitempty"`
	// WhenEmpty is the status if there is no endpoint: 503, or 404 for the default
	// backend.
	WhenEmpty int `json:"whenEmpty,omitempty"`
	// NoEndpoints is the reason why there is no endpoint, for package explain.
	NoEndpoints string `json:"-"`
	// Balancing is nil for picking endpoints in turn.
	Balancing *Balancing `json:"balancing,omitempty"`
	// Split is set for a backend without endpoints that spreads its requests over other
	// backends.
	Split *Split `json:"split,omitempty"`

	// Shortened is set if it has fewer endpoints than its Service, for lack of room.
	Shortened bool `json:"shortened,omitempty"`
	// RingPoints limits the points of its hash ring; 0 if it has none.
	RingPoints int `json:"ringPoints,omitempty"`
}

// Target is the destination of requests: a port of a Service, or a host.
type Target struct {
	ServicePort
	Host string `json:"host,omitempty"`
}

// Object is the object whose owner decides about the endpoints: the Service or, for a
// host, the namespace that asked for it.
func (t Target) Object() ObjectRef {
	if t.Host != "" {
		return ObjectRef{Kind: "Namespace", Name: t.Namespace}
	}
	return ObjectRef{Kind: "Service", Namespace: t.Namespace, Name: t.Name}
}

// Label is the name of the target in logs and cookies: "namespace-service-port", as in
// ingress-nginx.
func (t Target) Label() string {
	name := t.Name
	if t.Host != "" {
		name = t.Host
	}
	return t.Namespace + "-" + name + "-" + t.Port
}

// Backend returns the backend that nginx uses for a key, nil for none. A split without room
// is its main backend.
func (d *Dynamic) Backend(key string) *Backend {
	at, found := slices.BinarySearchFunc(d.Backends, key, func(b *Backend, key string) int { return strings.Compare(b.Key, key) })
	if found {
		return d.Backends[at]
	}
	for _, split := range []string{"~cookie-", "~split-"} {
		if main, _, ok := strings.Cut(key, split); ok {
			return d.Backend(main)
		}
	}
	return nil
}

// Endpoint is an address that serves requests.
type Endpoint struct {
	// Address is an IPv4 or IPv6 address, without brackets.
	Address string `json:"address,omitempty"`
	Port    int    `json:"port"`
}

// Failing is an endpoint that fails its health check, and the reason.
type Failing struct {
	Endpoint
	Reason string `json:"reason"`
}

// Certificate is a chain with its key. It is never written to disk.
type Certificate struct {
	// ID is the hash of the content in hexadecimal.
	ID string `json:"id,omitempty"`
	// Chain is PEM: the certificate first, then the intermediates.
	Chain []byte `json:"chain,omitempty"`
	// Key is the private key in PEM.
	Key Secret `json:"key"`
	// Namespace and Name are those of its Secret, of one of them if several are equal; empty
	// for the self-signed certificate.
	Namespace string `json:"-"`
	Name      string `json:"-"`
	// Responder is the URL of the OCSP responder in the certificate, empty for none.
	Responder string `json:"-"`
}

// CertificateName binds a server name to a certificate.
type CertificateName struct {
	// Host is a precise name, "*.name" or "" for the default.
	Host string `json:"host"`
	ID   string `json:"id,omitempty"`
}

// Secret is bytes that must not appear in a log or an error.
type Secret []byte

// String hides the content.
func (Secret) String() string { return "(secret)" }

// GoString hides the content from %#v.
func (Secret) GoString() string { return "(secret)" }

// MarshalText hides the content from JSON and text encoders. Code that sends a key
// converts it to bytes first.
func (Secret) MarshalText() ([]byte, error) { return []byte("(secret)"), nil }
