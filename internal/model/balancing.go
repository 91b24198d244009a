package model

// Balancing is how requests are spread over the endpoints of a backend, other than in
// turn. Its hash is part of the key of the backend.
type Balancing struct {
	// Affinity has a client go to the same endpoint each time.
	Affinity Affinity `json:"affinity"`
}

// Affinity says which clients move to endpoints that come: some, or none.
type Affinity string

// The affinities.
const (
	Balanced   Affinity = "balanced"
	Persistent Affinity = "persistent"
)

// Cookie is the cookie that names an endpoint to a client, and its attributes as in RFC
// 6265. It belongs to the requests: paths with other cookies share the endpoints.
type Cookie struct {
	Name string `json:"name"`
	// ChangeOnFailure has a retry go to another endpoint.
	ChangeOnFailure bool `json:"changeOnFailure,omitempty"`
	// Expires and MaxAge are in seconds; empty for none.
	Expires  string `json:"expires,omitempty"`
	MaxAge   string `json:"maxAge,omitempty"`
	Domain   string `json:"domain,omitempty"`
	Path     string `json:"path"`
	SameSite string `json:"sameSite,omitempty"`
	// Conditional leaves out SameSite=None for browsers that misread it.
	Conditional bool `json:"conditional,omitempty"`
	// Secure is said over plain HTTP too.
	Secure bool `json:"secure,omitempty"`
}

// Split spreads requests over backends, some by their headers, the rest by weight, and
// says which cookie their clients get. It may have no Shares.
type Split struct {
	// Main is the key of the backend of the requests that no share gets.
	Main string `json:"main"`
	// Total is what the weights are parts of, at least 1.
	Total  int     `json:"total"`
	Shares []Share `json:"shares,omitempty"`
	// Cookie has clients stay with a backend and its endpoint, nil for none; Tags are the
	// labels of Main and of the Shares.
	Cookie *Cookie  `json:"cookie,omitempty"`
	Tags   []string `json:"tags,omitempty"`
}

// Share is a backend of a Split besides the main one.
type Share struct {
	// Backend is its key, Name what logs call it.
	Backend string `json:"backend"`
	Name    string `json:"name"`
	Weight  int    `json:"weight"`
	// Rules decide before the weight does; the first that holds counts.
	Rules []ShareRule `json:"rules,omitempty"`
}

// ShareRule holds for the requests with a value of a variable of nginx. The share takes
// them or gets none of them.
type ShareRule struct {
	Variable string `json:"variable"`
	Value    string `json:"value"`
	Takes    bool   `json:"takes"`
}
