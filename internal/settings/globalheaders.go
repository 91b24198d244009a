package settings

import (
	"slices"
	"strings"

	"sluice/internal/keys"
)

// GlobalHeaders configures headers of all answers and of all requests to backends. Package
// translate reads the ConfigMaps, and gives their headers to WithHeaders.
type GlobalHeaders struct {
	Add           string               `key:"add-headers" validate:"configmap_ref" doc:"ConfigMap with headers of all answers, also of errors, redirects and unknown hosts. They replace those of backends. A header with an empty value is removed. Values can have variables such as $req_id. Annotations of an Ingress come before them, such as custom-headers."`
	Set           string               `key:"proxy-set-headers" validate:"configmap_ref" doc:"ConfigMap with headers of the requests to all backends. They replace those of the client. A header with an empty value is removed. Values can have variables such as $request_uri. Annotations of an Ingress come before them, such as request-headers."`
	Hide          []string             `key:"hide-headers" empty:"zero" validate:"max=64,dive,response_header" doc:"Names of headers that answers of backends lose, at most 64."`
	BackendServer bool                 `key:"allow-backend-server-header" default:"false" empty:"zero" doc:"Whether the header Server of backends is passed on, instead of that of nginx. It has an effect only with server-tokens: \"true\"."`
	Responses     keys.ResponseHeaders `key:"global-response-headers" empty:"zero" doc:"Headers of all answers, also of errors, redirects and unknown hosts, in a line each. They replace those of backends, and annotations cannot change them. A line without a value removes the header."`
	Requests      keys.RequestHeaders  `key:"global-request-headers" empty:"zero" protects:"true" doc:"Headers of the requests to all backends, in a line each. They replace those of the client, and annotations cannot change them. A line without a value removes the header. Values can have the variables of the annotation request-headers."`

	// Added and Sent are the headers of the ConfigMaps.
	Added, Sent []keys.HeaderLine
	// ServerPasses is set if backends name themselves.
	ServerPasses bool
}

// strictTransport is the header of the settings hsts.
const strictTransport = "Strict-Transport-Security"

// contentType is the header that nginx would repeat on pages of its own.
const contentType = "Content-Type"

// WithHeaders returns the settings with the headers of add-headers and proxy-set-headers.
func (s *Settings) WithHeaders(added, set []keys.HeaderLine) *Settings {
	with := *s
	with.GlobalHeaders.Added, with.GlobalHeaders.Sent = added, set
	return &with
}

// Answers returns the headers of all answers: those of the policy, then those of add-headers
// that it does not have. Content-Type is not among them.
func (g GlobalHeaders) Answers() []keys.HeaderLine {
	return slices.DeleteFunc(merged(g.Responses, g.Added), func(h keys.HeaderLine) bool { return strings.EqualFold(h.Name, contentType) })
}

// Type returns the Content-Type of the answers of backends, "" to keep it.
func (g GlobalHeaders) Type() string {
	for _, h := range merged(g.Responses, g.Added) {
		if strings.EqualFold(h.Name, contentType) {
			return h.Value
		}
	}
	return ""
}

// Questions returns the headers of all requests to backends.
func (g GlobalHeaders) Questions() []keys.HeaderLine { return merged(g.Requests, g.Sent) }

// Hidden returns the headers of backends that are not passed on, each once.
func (g GlobalHeaders) Hidden() []string {
	var names []string
	for _, h := range merged(g.Responses, g.Added) {
		names = append(names, h.Name)
	}
	for _, name := range g.Hide {
		if !slices.ContainsFunc(names, func(other string) bool { return strings.EqualFold(other, name) }) {
			names = append(names, name)
		}
	}
	return names
}

// PassesServer reports whether backends name themselves in the header Server.
func (g GlobalHeaders) PassesServer() bool { return g.ServerPasses }

// Overrules reports whether a directive of an Ingress has no effect: the policy sets or
// removes its header. expires writes two headers, which must not stand beside global ones.
func (g GlobalHeaders) Overrules(directive, header string) bool {
	switch directive {
	case "add_header":
		return has(g.Responses, header)
	case "proxy_set_header":
		return has(g.Requests, header)
	case "expires":
		return slices.ContainsFunc([]string{"Expires", "Cache-Control"}, func(name string) bool { return has(g.Responses, name) || has(g.Added, name) })
	}
	return false
}

// writes reports whether answers have a global header, or lose it.
func (g GlobalHeaders) writes(name string) bool { return has(g.Responses, name) || has(g.Added, name) }

// printedHeaders returns the group as a block prints it.
func (s *Settings) printedHeaders() GlobalHeaders {
	g := s.GlobalHeaders
	g.ServerPasses = g.BackendServer && s.Headers.ServerTokens
	return g
}

// printedHSTS returns HSTS, off where a global header replaces its own.
func (s *Settings) printedHSTS() HSTS {
	h := s.HSTS
	h.Enabled = h.Enabled && !s.GlobalHeaders.writes(strictTransport)
	return h
}

// merged returns the headers of a policy and those of a ConfigMap that it does not have.
func merged(policy, named []keys.HeaderLine) []keys.HeaderLine {
	all := slices.Clone(policy)
	for _, h := range named {
		if !has(policy, h.Name) {
			all = append(all, h)
		}
	}
	return all
}

func has(headers []keys.HeaderLine, name string) bool {
	return slices.ContainsFunc(headers, func(h keys.HeaderLine) bool { return strings.EqualFold(h.Name, name) })
}
