package claim

import (
	"slices"
	"strconv"
	"strings"

	"sluice/internal/annotations"
	"sluice/internal/model"
)

// Target is a host that is no Service, and that subrequests go to.
type Target struct {
	// Host is without brackets, Port a number.
	Host, Port string
	// Transport is how it is spoken to.
	Transport model.Transport
	// URI is what the target is asked for, as its URL has it; Header the Host that it is
	// told.
	URI, Header string
	// Field is the annotation that names it.
	Field string
}

// Authentication is how another server says which requests may pass.
type Authentication struct {
	Target
	Asked *annotations.ExternalAuth
	// OfRule is set if the host of the target is that of the rule.
	OfRule bool
	// Headers are those of the question.
	Headers []QuestionHeader
}

// QuestionHeader is a header of the question; its value may have variables.
type QuestionHeader struct{ Name, Value string }

// AnsweredHeader is one that backends get: From is the variable of the answer,
// Variable what keeps its value.
type AnsweredHeader struct{ Name, From, Variable string }

// Set puts a header in the place of that of the same name.
func (a *Authentication) Set(header QuestionHeader) {
	at := slices.IndexFunc(a.Headers, func(h QuestionHeader) bool { return strings.EqualFold(h.Name, header.Name) })
	if at < 0 {
		a.Headers = append(a.Headers, header)
		return
	}
	a.Headers[at] = header
}

// Answered are the headers that backends get of the answer; none for nil. The numbers
// of their variables are those of the list, so that few variables do for all Ingresses.
func (a *Authentication) Answered() []AnsweredHeader {
	if a == nil {
		return nil
	}
	var headers []AnsweredHeader
	for name := range strings.SplitSeq(a.Asked.ResponseHeaders, ",") {
		name = strings.TrimSpace(name)
		same := func(h AnsweredHeader) bool { return strings.EqualFold(h.Name, name) }
		if name == "" || slices.ContainsFunc(headers, same) {
			continue
		}
		from := "upstream_http_" + strings.ReplaceAll(strings.ToLower(name), "-", "_")
		headers = append(headers, AnsweredHeader{name, from, "external_auth_" + strconv.Itoa(len(headers)+1)})
	}
	return headers
}

// Authentication is that of the path of a claim, nil for none.
func (c *Claim) Authentication() *Authentication {
	return c.Owner.AttachedTo(c.Annotations.ExternalAuth).Auth
}
