package model

import "strings"

// Match says which requests of a path are meant, besides the path itself: those of
// which all of it holds. The zero value means every request.
type Match struct {
	// Method is that of the request, such as "GET"; empty for any.
	Method string `json:"method,omitempty"`
	// Headers and Query are compared with the headers of the request and the
	// parameters of its query, each name at most once.
	Headers []ValueMatch `json:"headers,omitempty"`
	Query   []ValueMatch `json:"query,omitempty"`
}

// ValueMatch says what a header or a parameter has to be. One that is missing or
// empty never matches.
type ValueMatch struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// Pattern is set if Value is a regular expression, which has to match the whole.
	Pattern bool `json:"pattern,omitempty"`
}

// Any reports whether every request is meant.
func (m Match) Any() bool { return m.Method == "" && len(m.Headers) == 0 && len(m.Query) == 0 }

// String gives the match as one line, such as "POST and header X-Version: v2 and
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

// String gives "name: value", or "name ~ pattern".
func (v ValueMatch) String() string {
	if v.Pattern {
		return v.Name + " ~ " + v.Value
	}
	return v.Name + ": " + v.Value
}

// Candidate is one of the internal locations that a location hands its requests over
// to: the first whose Match holds has the request.
type Candidate struct {
	Match Match `json:"match,omitzero"`
	// To is the Path of a Named location of Server.Internal.
	To string `json:"to"`
	// Conditions are what nginx checks for the Match, all of them.
	Conditions []Condition `json:"conditions,omitempty"`
}

// Condition is a pattern, case-sensitive, that has to match a part of the request.
type Condition struct {
	Of RequestPart `json:"of"`
	// Name is that of the header, in lower case, or of the parameter.
	Name    string `json:"name,omitempty"`
	Pattern string `json:"pattern"`
}

// RequestPart is what a Condition looks at.
type RequestPart string

// The parts.
const (
	OfMethod RequestPart = "method"
	OfHeader RequestPart = "header"
	OfQuery  RequestPart = "query"
)
