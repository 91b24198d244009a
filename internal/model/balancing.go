package model

import "strings"

// Balancing is a way to spread requests over the endpoints of a backend, other than in
// turn. Its hash is part of the key of the backend.
type Balancing struct {
	// Affinity sends a client to the same endpoint each time; empty for none.
	Affinity Affinity `json:"affinity,omitempty"`
	// Hash sends requests with the same key to the same endpoint; nil for none.
	Hash *Hash `json:"hash,omitempty"`
	// Algorithm is for requests without affinity and hash; empty for picking in turn.
	Algorithm Algorithm `json:"algorithm,omitempty"`
	// Ejection leaves out endpoints that fail; nil for none.
	Ejection *Ejection `json:"ejection,omitempty"`
	// SlowStart is the number of seconds in which a new endpoint gets ever more requests; 0
	// for all at once.
	SlowStart int `json:"slowStart,omitempty"`
	// Check leaves out endpoints by requests of the controller; nil for none.
	Check *Check `json:"check,omitempty"`
	// ServiceAddress replaces the endpoints by the cluster address of the Service.
	ServiceAddress bool `json:"serviceAddress,omitempty"`
}

// Picker is the name of the picker, as in the answers of the debug socket.
func (b *Balancing) Picker() string {
	switch {
	case b == nil:
	case b.Affinity != "":
		return "cookie"
	case b.Hash != nil:
		return "hash"
	case b.Algorithm != "":
		return string(b.Algorithm)
	}
	return "round_robin"
}

// Watches reports whether nginx has to tell the balancer of the end of each request.
func (b *Balancing) Watches() bool {
	return b != nil && (b.Algorithm != "" || b.Ejection != nil)
}

// Ejection leaves out an endpoint for Timeout seconds after MaxFails failures within that
// time.
type Ejection struct {
	MaxFails int `json:"maxFails"`
	Timeout  int `json:"timeout"`
}

// Check is the request by which the controller checks each endpoint. Equal checks of one
// endpoint are one.
type Check struct {
	Path string `json:"path"`
	// Host is the header; empty for the address of the endpoint.
	Host string `json:"host,omitempty"`
	// Port is 0 for that of the endpoint.
	Port int `json:"port,omitempty"`
	// TLS is set for HTTPS. Name is then sent by SNI; empty for none.
	TLS  bool   `json:"tls,omitempty"`
	Name string `json:"name,omitempty"`
	// From and To are the lowest and the highest status of a healthy endpoint.
	From int `json:"from"`
	To   int `json:"to"`
	// Interval and Timeout are in seconds.
	Interval int `json:"interval"`
	Timeout  int `json:"timeout"`
	// Healthy and Unhealthy are the numbers of results in a row that change the state of an
	// endpoint.
	Healthy   int `json:"healthy"`
	Unhealthy int `json:"unhealthy"`
}

// Algorithm is a way to pick an endpoint by its work.
type Algorithm string

// The algorithms.
const (
	EWMA      Algorithm = "ewma"
	LeastConn Algorithm = "least_conn"
)

// Hash is the key of a request, and the number of endpoints that share the requests with a
// key.
type Hash struct {
	// By is a text, a variable, a text, a variable and so on: their values are joined. A
	// text may be empty.
	By []string `json:"by"`
	// Subset is 0 if one endpoint gets all requests with a key.
	Subset int `json:"subset,omitempty"`
}

// Written returns the key as in an annotation.
func (h *Hash) Written() string {
	var text strings.Builder
	for i, part := range h.By {
		if i%2 == 1 {
			part = "${" + part + "}"
		}
		text.WriteString(part)
	}
	return text.String()
}

// Affinity selects the clients that move to new endpoints: some (Balanced), or none
// (Persistent).
type Affinity string

// The affinities.
const (
	Balanced   Affinity = "balanced"
	Persistent Affinity = "persistent"
)

// Cookie is the cookie that names an endpoint to a client, with attributes as in RFC
// 6265. It is not part of the backend: paths with different cookies share the
// endpoints.
type Cookie struct {
	Name string `json:"name"`
	// ChangeOnFailure lets a retry change the endpoint.
	ChangeOnFailure bool `json:"changeOnFailure,omitempty"`
	// Expires and MaxAge are in seconds; empty for none.
	Expires  string `json:"expires,omitempty"`
	MaxAge   string `json:"maxAge,omitempty"`
	Domain   string `json:"domain,omitempty"`
	Path     string `json:"path"`
	SameSite string `json:"sameSite,omitempty"`
	// Conditional leaves out SameSite=None for browsers that misread it.
	Conditional bool `json:"conditional,omitempty"`
	// Secure sets the attribute over plain HTTP too.
	Secure bool `json:"secure,omitempty"`
}

// Split spreads requests over backends, some by their headers, the others by weight,
// and sets a cookie. It may have no Shares.
type Split struct {
	// Main is the key of the backend for requests that no share takes.
	Main string `json:"main"`
	// Total is the sum that the weights are parts of, at least 1.
	Total  int     `json:"total"`
	Shares []Share `json:"shares,omitempty"`
	// Cookie keeps clients at a backend and its endpoint, nil for none; Tags are the
	// labels of Main and of the Shares, empty for a share whose clients do not stay.
	Cookie *Cookie  `json:"cookie,omitempty"`
	Tags   []string `json:"tags,omitempty"`
}

// Share is a backend of a Split besides the main one.
type Share struct {
	// Backend is its key, Name its name in logs.
	Backend string `json:"backend"`
	Name    string `json:"name"`
	Weight  int    `json:"weight"`
	// Rules decide before the weight. The first that matches wins.
	Rules []ShareRule `json:"rules,omitempty"`
}

// ShareRule matches requests by the value of an nginx variable. The share takes them or
// gets none of them.
type ShareRule struct {
	Variable string `json:"variable"`
	// Value is the whole value, or empty if Pattern matches a part of it.
	Value string `json:"value"`
	// Limit is the number of steps that Pattern may take.
	Pattern string `json:"pattern,omitempty"`
	Limit   int    `json:"limit,omitempty"`
	Takes   bool   `json:"takes"`
}
