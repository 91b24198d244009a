package dynamic

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"

	"sluice/internal/model"
)

// This file is the Go half of the contract with the Lua modules; the other
// half is rootfs/etc/nginx/lua/sluice/wire.lua. testdata/wire.json holds cases
// that the tests of both halves read.

// push is the body of POST /push. A list that is left out changes nothing.
type push struct {
	Boot   string  `json:"boot"`
	Set    *set    `json:"set,omitempty"`
	Delete *absent `json:"delete,omitempty"`
}

// byKind is a list of each kind of item.
type byKind[T any] struct {
	Backends     []T `json:"backends,omitempty"`
	Certificates []T `json:"certificates,omitempty"`
	Names        []T `json:"names,omitempty"`
	Staples      []T `json:"staples,omitempty"`
	Tickets      []T `json:"tickets,omitempty"`
}

type (
	// set is the items to add or replace, already encoded.
	set = byKind[json.RawMessage]
	// absent is the keys to delete, or those that nginx could not store.
	absent = byKind[string]
)

// only returns the list of one kind.
func only[T any](kind string, items []T) *byKind[T] {
	k := &byKind[T]{}
	*k.of(kind) = items
	return k
}

// of returns the list of a kind.
func (k *byKind[T]) of(kind string) *[]T {
	switch kind {
	case "backends":
		return &k.Backends
	case "certificates":
		return &k.Certificates
	case "staples":
		return &k.Staples
	case "tickets":
		return &k.Tickets
	}
	return &k.Names
}

func (k *byKind[T]) any() bool {
	return len(k.Backends)+len(k.Certificates)+len(k.Names)+len(k.Staples)+len(k.Tickets) > 0
}

type wireBackend struct {
	Key       string         `json:"key"`
	Endpoints []wireEndpoint `json:"endpoints"`
	Empty     int            `json:"empty"`
	Picker    *wirePicker    `json:"picker,omitempty"`
	Split     *wireSplit     `json:"split,omitempty"`
}

// wireEndpoint is the array [address, port].
type wireEndpoint struct {
	Address string
	Port    int
}

func (e wireEndpoint) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{e.Address, e.Port})
}

type wireCertificate struct {
	ID    string `json:"id"`
	Chain string `json:"chain"`
	Key   string `json:"key"`
}

type wireName struct {
	Host string `json:"host"`
	ID   string `json:"id"`
}

// wireStaple has the response in base64.
type wireStaple struct {
	ID       string `json:"id"`
	Response []byte `json:"response"`
	Until    int64  `json:"until"`
}

// wireTicket has the key in base64.
type wireTicket struct {
	ID  string `json:"id"`
	Key []byte `json:"key"`
}

// pushAnswer is the answer to POST /push, with any status.
type pushAnswer struct {
	Boot    string `json:"boot"`
	Version int    `json:"version"`
	Error   string `json:"error"`
	Failed  absent `json:"failed"`
	Memory  Memory `json:"memory"`
}

// Memory is the use of nginx's dictionaries.
type Memory struct {
	Backends     Dictionary `json:"backends"`
	Certificates Dictionary `json:"certificates"`
}

// Dictionary is one of them, in bytes.
type Dictionary struct {
	Size int64 `json:"size"`
	Free int64 `json:"free"`
}

// NearlyFull reports whether less than a fifth is free. It is false if the size is
// unknown.
func (d Dictionary) NearlyFull() bool { return d.Size > 0 && d.Free < d.Size/5 }

// Status is the answer to GET /status.
type Status struct {
	// Boot identifies this nginx for its whole life. A new Boot has empty dictionaries.
	Boot string `json:"boot"`
	// Load is the number of the configuration that the answering worker runs.
	Load int `json:"load"`
	// Workers are those that accept connections.
	Workers []Worker `json:"workers"`
	// Expected is the number of workers in the configuration of Load.
	Expected int `json:"expected"`
	// Version grows with every push.
	Version int    `json:"version"`
	Memory  Memory `json:"memory"`
}

// Worker is an nginx worker that accepts connections.
type Worker struct {
	PID  int `json:"pid"`
	Load int `json:"load"`
}

// encodeBackend returns a backend as JSON. It leaves out invalid endpoints and an unknown
// picker, which the error names; the rest is valid.
func encodeBackend(b *model.Backend) ([]byte, error) {
	picker, err := pickerOf(b)
	problems := []error{err}
	out := wireBackend{Key: b.Key, Endpoints: make([]wireEndpoint, 0, len(b.Endpoints)), Empty: b.WhenEmpty, Picker: picker, Split: splitOf(b.Split)}
	if out.Empty == 0 {
		out.Empty = 503
	}
	for _, e := range b.Endpoints {
		endpoint, err := encodeEndpoint(e)
		if err != nil {
			problems = append(problems, fmt.Errorf("backend %s: %w", b.Key, err))
			continue
		}
		out.Endpoints = append(out.Endpoints, endpoint)
	}
	text, err := json.Marshal(out)
	return text, errors.Join(append(problems, err)...)
}

// encodeEndpoint writes the address as nginx prints it, so that the balancer recognises
// endpoints that a request has tried.
func encodeEndpoint(e model.Endpoint) (wireEndpoint, error) {
	address, err := netip.ParseAddr(e.Address)
	if err != nil || address.Zone() != "" {
		return wireEndpoint{}, fmt.Errorf("endpoint %q: want an IPv4 or IPv6 address", e.Address)
	}
	if e.Port < 1 || e.Port > 65535 {
		return wireEndpoint{}, fmt.Errorf("endpoint %s: want a port from 1 to 65535 (got %d)", e.Address, e.Port)
	}
	return wireEndpoint{Address: address.Unmap().String(), Port: e.Port}, nil
}

// encodeTicket and encodeCertificate are the places where keys leave this process.
func encodeTicket(key model.Secret) ([]byte, error) {
	return json.Marshal(wireTicket{ID: ticketID, Key: key})
}

func encodeCertificate(c *model.Certificate) ([]byte, error) {
	text, err := json.Marshal(wireCertificate{ID: c.ID, Chain: string(c.Chain), Key: string(c.Key)})
	if err != nil {
		return nil, fmt.Errorf("certificate %s cannot be encoded", c.ID)
	}
	return text, nil
}
