package model

// Dynamic is what nginx is told while it runs, without a reload.
type Dynamic struct {
	// Backends are sorted by Key.
	Backends []*Backend `json:"backends,omitempty"`
	// Certificates are sorted by ID.
	Certificates []*Certificate `json:"certificates,omitempty"`
	// Names say which certificate a server name gets, sorted by Host. The
	// Host "" is the default certificate.
	Names []CertificateName `json:"names,omitempty"`
}

// Memory is the sizes, in bytes, of what nginx keeps Dynamic in. They cannot
// change while nginx runs.
type Memory struct {
	Backends, Certificates int64
}

// Backend is a set of endpoints that requests are spread over.
type Backend struct {
	// Key names it for good: a backend of another meaning has another key.
	Key string `json:"key"`
	// Endpoints are sorted and without duplicates.
	Endpoints []Endpoint `json:"endpoints,omitempty"`
	// ExternalName, if not empty, is a DNS name that the controller resolves
	// to the endpoints, each with port ExternalPort.
	ExternalName string `json:"externalName,omitempty"`
	ExternalPort int    `json:"externalPort,omitempty"`
	// WhenEmpty is the status that answers while there is no endpoint: 503,
	// or 404 for the default backend.
	WhenEmpty int `json:"whenEmpty,omitempty"`
}

// Endpoint is an address that serves.
type Endpoint struct {
	// Address is an IPv4 or IPv6 address, without brackets.
	Address string `json:"address,omitempty"`
	Port    int    `json:"port"`
}

// Certificate is a chain with its key. It is never written to disk.
type Certificate struct {
	// ID is the hash of the content in hexadecimal.
	ID string `json:"id,omitempty"`
	// Chain is PEM: the certificate first, then the intermediates.
	Chain []byte `json:"chain,omitempty"`
	// Key is the private key in PEM.
	Key Secret `json:"key"`
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

// MarshalText hides the content from JSON and text encoders. What really sends
// a key converts it to bytes first.
func (Secret) MarshalText() ([]byte, error) { return []byte("(secret)"), nil }
