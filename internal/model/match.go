package model

import "strings"

// Match selects requests of a path: those for which all of it holds. The zero value
// selects every request.
type Match struct {
	// Method is that of the request, such as "GET"; empty for any.
	Method string `json:"method,omitempty"`
	// Headers and Query select by headers and query parameters of the request, each
	// name at most once.
	Headers []ValueMatch `json:"headers,omitempty"`
	Query   []ValueMatch `json:"query,omitempty"`
}

// ValueMatch selects by the value of a header or parameter. A missing or empty one
// never matches.
type ValueMatch struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// Pattern is set if Value is a regular expression, which must match the whole
	// value.
	Pattern bool `json:"pattern,omitempty"`
}

// Any reports whether the match selects every request.
func (m Match) Any() bool { return m.Method == "" && len(m.Headers) == 0 && len(m.Query) == 0 }

// String returns the match as one line, such as "POST and header X-Version: v2 and
// query q ~ [0-9]+".
func (m Match) String() string {
	var parts []string
	if m.Method != "" {
		parts = append(parts, m.Method)
	}
	for _, h := range m.Headers {
		parts = append(parts, "header "+h.String())
	}
	for _, q := range m.Query {
		parts = append(parts, "query "+q.String())
	}
	return OneLine(strings.Join(parts, " and "), mostText)
}

// String returns "name: value", or "name ~ pattern".
func (v ValueMatch) String() string {
	if v.Pattern {
		return v.Name + " ~ " + v.Value
	}
	return v.Name + ": " + v.Value
}

// Candidate is one of the internal locations that a location dispatches to. The first
// whose Match holds takes the request.
type Candidate struct {
	Match Match `json:"match,omitzero"`
	// To is the Path of a Named location of Server.Internal.
	To string `json:"to"`
	// Conditions are the Match as nginx checks it; all must hold.
	Conditions []Condition `json:"conditions,omitempty"`
}

// Condition is a case-sensitive pattern that must match a part of the request.
type Condition struct {
	Of RequestPart `json:"of"`
	// Name is the header, in lower case, or the parameter.
	Name    string `json:"name,omitempty"`
	Pattern string `json:"pattern"`
	// MatchLimit is the number of steps that the pattern may take, and that of the parameter; 0
	// for that of the settings.
	MatchLimit int `json:"matchLimit,omitempty"`
}

// RequestPart is the part of a request that a Condition checks.
type RequestPart string

// The parts.
const (
	OfMethod RequestPart = "method"
	OfHeader RequestPart = "header"
	OfQuery  RequestPart = "query"
)
