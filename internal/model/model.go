// Package model says what nginx must do, as plain values: it is what translate
// makes of the objects and what render and dynamic carry out.
//
// It knows no Kubernetes type, holds no map (so that equal values print equal
// bytes) and does nothing. A *Server, *Backend or *Certificate is never changed
// after it was built: the same pointer means the same content, which is what
// lets render keep the bytes of a server that did not change.
package model

// Config is everything that nginx is told. Static and Dynamic are different
// types so that an endpoint or a key cannot reach a template by mistake.
type Config struct {
	Static  Static
	Dynamic Dynamic
}

// Static is what nginx.conf says. A reload is needed if and only if its
// rendered bytes differ.
type Static struct {
	// Blocks are the global settings, each printed by its templates in the
	// contexts main, events and http (see Block).
	Blocks []Block
	// Servers are sorted by Host; the catch-all server ("") is always there
	// and comes first.
	Servers []*Server
}

// Server is one host.
type Server struct {
	// Host is "" for the catch-all server, a precise name, or "*.name".
	Host string
	// RedirectToHTTPS is set when every location of the server redirects
	// plain requests; it is then said once and not by each location.
	RedirectToHTTPS *Redirect
	// Blocks are what behaviours print at server level.
	Blocks []Block
	// Locations are in the order of route.Sort.
	Locations []*Location
	// Miss answers names that nginx's wildcard takes but Kubernetes' does not
	// (more than one label). It is set for wildcard hosts only. A wildcard host
	// without it takes no such name: its name is a regular expression, which
	// costs every request for an unknown host some time.
	Miss *Location
}

// Modifier is the way a location matches, in nginx's own notation.
// Source: https://nginx.org/en/docs/http/ngx_http_core_module.html#location
type Modifier string

// The four modifiers that Sluice emits.
const (
	Equal       Modifier = "="  // exactly this path
	PrefixFirst Modifier = "^~" // this prefix, and no pattern is tried
	Prefix      Modifier = ""   // this prefix, unless a pattern matches
	Pattern     Modifier = "~*" // a case-insensitive PCRE, first match wins
)

// Location is one location of a server: how it matches, whose it is, and what
// is done with a request there.
type Location struct {
	Modifier Modifier
	// Path is the decoded path, or the complete pattern ("^/foo") for Pattern.
	Path string
	// Rule says which rule of which object asked for it.
	Rule Rule
	// RedirectToHTTPS redirects plain requests of this location only.
	RedirectToHTTPS *Redirect
	// Rewrite changes the URI before it is passed on.
	Rewrite *Rewrite
	// Blocks are what decorating behaviours print at location level, in the
	// order of policy's table.
	Blocks []Block
	// Exactly one of the two says what answers.
	Proxy  *Proxy
	Return *Return
}

// Rule is where a location comes from.
type Rule struct {
	Object ObjectRef
	// Field is the path of the field within the object, such as
	// "spec.rules[0].http.paths[2]"; empty for what Sluice adds itself.
	Field string
	// Path and PathType are as the user wrote them.
	Path     string
	PathType string
	// Kind says why the location exists: "rule", "fallback" (what no rule
	// matched), "shadow" (keeps nginx from redirecting /foo to /foo/).
	Kind RuleKind
}

// RuleKind is why a location exists.
type RuleKind string

// The kinds of rule.
const (
	RuleWritten  RuleKind = "rule"
	RuleFallback RuleKind = "fallback"
	RuleShadow   RuleKind = "shadow"
)

// Redirect answers plain HTTP with a redirect to HTTPS.
type Redirect struct {
	// Code is the status: 301, 302, 307 or 308.
	Code int
	// Port is added to the host if it is not 0.
	Port int
	// KeepTrailingSlash leaves a "/" at the end of the URI as it is.
	KeepTrailingSlash bool
}

// Rewrite replaces the URI that matches Pattern by Target, which may use $1 to
// $9 and the named groups of Pattern. An empty Pattern never occurs.
type Rewrite struct {
	Pattern string
	Target  string
}

// Return answers at once with a status.
type Return struct{ Code int }

// Proxy passes a request to a backend.
type Proxy struct {
	// Backend is the Key of a Backend of Dynamic.
	Backend string
	// Service is the Service and port that were asked for, for logs.
	Service ServicePort
	// Transport is the name of the upstream: one for each transport profile,
	// so that pools of kept connections never mix. Empty means plain HTTP.
	Transport Transport
}

// ServicePort is a port of a Service, by number or by name.
type ServicePort struct {
	Namespace, Name, Port string
}

// Transport is how nginx speaks to a backend. The zero value is HTTP/1.1
// without TLS. Two different values never share a kept connection.
type Transport struct {
	// TLS speaks HTTPS to the backend.
	TLS bool
	// Verify refuses a certificate that TrustedCA did not sign or that does
	// not name Name.
	Verify bool
	// Name is sent by SNI and verified; empty for none.
	Name string
	// TrustedCA is the PEM of the authorities (public, so it may be a file).
	TrustedCA string
	// VerifyDepth is the length of the longest accepted chain; 0 means 1.
	VerifyDepth int
}

// Block is something a behaviour prints. The template "<Name>/<context>" is
// executed with Data in each context (main, events, http, server, location)
// that has one; what "<Name>/shared" prints at http level is printed once for
// all equal bytes.
type Block struct {
	Name string
	// Data is a struct without maps and without pointers to objects.
	Data any
	// Answers is set if it answers some requests of a location by itself, which
	// comes before the redirect to HTTPS.
	Answers bool
	// Source is the object that asked for it, for the source map.
	Source ObjectRef
}
