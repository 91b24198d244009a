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
	Static  Static  `json:"static"`
	Dynamic Dynamic `json:"dynamic"`
	// Unplaced are for package explain, in a list for each host.
	Unplaced [][]Unplaced `json:"-"`
}

// Static is what nginx.conf says. A reload is needed if and only if its
// rendered bytes differ.
type Static struct {
	// Blocks are the global settings, each printed by its templates in the
	// contexts main, events and http (see Block).
	Blocks []Block `json:"blocks,omitempty"`
	// Servers are sorted by Host, but for those with patterns among their Aliases,
	// which come last, in the order in which the patterns are tried. The catch-all
	// server ("") is always there and comes first.
	Servers []*Server `json:"servers,omitempty"`
	// Streams are sorted by protocol and port.
	Streams []Stream `json:"streams,omitempty"`
	// PassesThrough is set if TLS connections are looked at for the hosts of
	// Passthroughs, which are sorted by Host. It does not depend on whether there
	// are any: an Ingress does not change how others are reached.
	PassesThrough bool          `json:"passesThrough,omitempty"`
	Passthroughs  []Passthrough `json:"passthroughs,omitempty"`
}

// Server is one host.
type Server struct {
	// Host is "" for the catch-all server, a precise name, or "*.name".
	Host string `json:"host"`
	// Listener names the ports that it is served on; empty for those of HTTP and HTTPS.
	Listener string `json:"listener,omitempty"`
	// AnyLabels is set if the "*" of Host stands for any number of labels; otherwise it
	// stands for one.
	AnyLabels bool `json:"anyLabels,omitempty"`
	// Aliases are further names in nginx's notation, sorted: precise ones,
	// "*.name" and "name.*" for any number of labels, "~" with a pattern.
	Aliases []string `json:"aliases,omitempty"`
	// AliasesFrom is the Ingress that asked for them.
	AliasesFrom ObjectRef `json:"aliasesFrom,omitzero"`
	// AliasesOnly is set if Host has a server of its own, before this one: the
	// Aliases are redirected otherwise, or Host is a wildcard.
	AliasesOnly bool `json:"aliasesOnly,omitempty"`
	// RedirectToHTTPS is set when every location of the server redirects
	// plain requests; it is then said once and not by each location.
	RedirectToHTTPS *Redirect `json:"redirectToHTTPS,omitempty"`
	// Blocks are what behaviours print at server level.
	Blocks []Block `json:"blocks,omitempty"`
	// Locations are in the order of route.Sort.
	Locations []*Location `json:"locations,omitempty"`
	// Internal are the locations that no client reaches, sorted by modifier and path.
	Internal []*Internal `json:"internal,omitempty"`
}

// Key tells the server from all others.
func (s *Server) Key() string {
	key := s.Host
	if s.AliasesOnly {
		key += " " + s.Aliases[0]
	}
	if s.Listener != "" {
		key += " on " + s.Listener
	}
	return key
}

// Taker is the location of a rule that takes all that no other path takes, nil for
// none.
func (s *Server) Taker() *Location {
	for _, l := range s.Locations {
		if l.Rule.Kind == RuleWritten && l.IsRoot() {
			return l
		}
	}
	return nil
}

// LongestToken is the longest token of nginx.conf, in bytes as printed. nginx reads
// through a buffer of 4,096 bytes and ends with "too long parameter" where a token
// does not fit.
const LongestToken = 4000

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
	Modifier Modifier `json:"modifier"`
	// Path is the decoded path, or the complete pattern ("^/foo") for Pattern.
	Path string `json:"path"`
	// MatchLimit is how many steps a Pattern may take, 0 for as many as the settings
	// say.
	MatchLimit int `json:"matchLimit,omitempty"`
	// Rule says which rule of which object asked for it.
	Rule Rule `json:"rule"`
	// RedirectToHTTPS redirects plain requests of this location only.
	RedirectToHTTPS *Redirect `json:"redirectToHTTPS,omitempty"`
	// PlainHTTP says why plain requests are redirected to HTTPS or not, for those who
	// explain it; empty where no rule asks.
	PlainHTTP string `json:"-"`
	// Rewrite changes the URI before it is passed on.
	Rewrite *Rewrite `json:"rewrite,omitempty"`
	// Blocks are what decorating behaviours print at location level, in the
	// order of the table of package annotations.
	Blocks []Block `json:"blocks,omitempty"`
	// Exactly one of the three says what answers.
	Proxy  *Proxy  `json:"proxy,omitempty"`
	Return *Return `json:"return,omitempty"`
	// Dispatch hands the request over to the first candidate that is meant for it. The
	// last is for all.
	Dispatch []Candidate `json:"dispatch,omitempty"`
}

// IsRoot tells the location of what nothing else matches.
func (l *Location) IsRoot() bool {
	switch l.Modifier {
	case Equal:
		return false
	case Pattern:
		return l.Rule.Path == "/" && l.Rule.PathType != "Exact"
	}
	return l.Path == "/"
}

// Rule is where a location comes from.
type Rule struct {
	Object ObjectRef `json:"object"`
	// Field is the path of the field within the object, such as
	// "spec.rules[0].http.paths[2]"; empty for what Sluice adds itself.
	Field string `json:"field,omitempty"`
	// Path and PathType are as the user wrote them.
	Path     string `json:"path"`
	PathType string `json:"pathType,omitempty"`
	// Kind says why the location exists: "rule", "fallback" (what no rule
	// matched), "shadow" (keeps nginx from redirecting /foo to /foo/),
	// "redirect" (sends / elsewhere), "closed" (answers 503 in the place of what
	// cannot be served), "health" (answers checks of load balancers), "dispatch"
	// (hands requests over to what is asked for by method, header or query).
	Kind RuleKind `json:"kind"`
	// Protects is set if the object keeps requests out of its paths, or should: its
	// location answers 503 rather than to be left out.
	Protects bool `json:"protects,omitempty"`
}

// RuleKind is why a location exists.
type RuleKind string

// The kinds of rule.
const (
	RuleWritten  RuleKind = "rule"
	RuleFallback RuleKind = "fallback"
	RuleShadow   RuleKind = "shadow"
	RuleRedirect RuleKind = "redirect"
	RuleClosed   RuleKind = "closed"
	RuleHealth   RuleKind = "health"
	RuleDispatch RuleKind = "dispatch"
)

// Redirect answers plain HTTP with a redirect to HTTPS.
type Redirect struct {
	// Code is the status: 301, 302, 307 or 308.
	Code int `json:"code"`
	// Port is added to the host if it is not 0.
	Port int `json:"port"`
	// KeepTrailingSlash leaves a "/" at the end of the URI as it is.
	KeepTrailingSlash bool `json:"keepTrailingSlash,omitempty"`
}

// Rewrite replaces the URI that matches Pattern by Target, which may use $1 to
// $9 and the named groups of Pattern. An empty Pattern never occurs.
type Rewrite struct {
	Pattern string `json:"pattern,omitempty"`
	Target  string `json:"target,omitempty"`
	// Prefix is the header X-Forwarded-Prefix, with variables as in Target;
	// empty for none.
	Prefix string `json:"prefix,omitempty"`
}

// Return answers at once with a status.
type Return struct {
	Code int
	// URL is where the client is sent to; empty for no redirect. It is as the
	// user wrote it: one that begins with "/" is of the host that was asked, and
	// it may name variables.
	URL string `json:"url,omitempty"`
}

// Proxy passes a request to a backend.
type Proxy struct {
	// Backend is the Key of a Backend of Dynamic.
	Backend string `json:"backend,omitempty"`
	// Service is the Service and port that were asked for, for logs.
	Service ServicePort `json:"service"`
	// Transport is the name of the upstream: one for each transport profile,
	// so that pools of kept connections never mix. Empty means plain HTTP.
	Transport Transport `json:"transport,omitzero"`
	// URI is what the backend of an internal location is asked for, empty for what
	// the request has. It is a path that may name variables.
	URI string `json:"uri,omitempty"`
}

// ServicePort is a port of a Service, by number or by name.
type ServicePort struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	Port      string `json:"port"`
}

// Transport is how nginx speaks to a backend. The zero value is HTTP/1.1
// without TLS. Two different values never share a kept connection.
type Transport struct {
	// TLS speaks HTTPS to the backend.
	TLS bool `json:"tls,omitempty"`
	// Verify refuses a certificate that TrustedCA did not sign or that does
	// not name Name.
	Verify bool `json:"verify,omitempty"`
	// Name is sent by SNI and verified; empty for none.
	Name string `json:"name,omitempty"`
	// TrustedCA is the PEM of the authorities (public, so it may be a file).
	TrustedCA string `json:"trustedCA,omitempty"`
	// VerifyDepth is the length of the longest accepted chain; 0 means 1.
	VerifyDepth int `json:"verifyDepth,omitempty"`
}

// Block is something a behaviour prints. The template "<Name>/<context>" is
// executed with Data in each context (main, events, http, server, location)
// that has one. What "<Name>/first" prints in a location comes before anything
// is answered there, and "<Name>/answer" answers some requests itself. What
// "<Name>/redirect" prints holds for the redirects to HTTPS and to sign in too. What
// "<Name>/shared" prints at http level is there once, and blocks with the same head
// become one block.
type Block struct {
	Name string `json:"name,omitempty"`
	// Data is a struct without maps and without pointers to objects.
	Data any `json:"data"`
	// Answers is set if it answers some requests of a location by itself, which
	// comes before the redirect to HTTPS.
	Answers bool `json:"answers,omitempty"`
	// Ends is set if it may end what nginx's rewrite module does, so that the
	// location's own redirect to HTTPS and status come before it.
	Ends bool `json:"ends,omitempty"`
	// Redirected is set if it holds for redirects of the location too. That to HTTPS is
	// then printed in the location and not once for the server.
	Redirected bool `json:"redirected,omitempty"`
	// Source is the object that asked for it, for the source map.
	Source ObjectRef `json:"source"`
}
