// Package model holds the work of nginx as plain values. translate makes them of the
// objects; render and dynamic carry them out.
//
// It has no Kubernetes type, no behaviour, and no map, so that equal values print equal
// bytes. A *Server, *Backend or *Certificate never changes after it was built: the same
// pointer means the same content, so render keeps the bytes of an unchanged server.
package model

// Config is the whole configuration of nginx. Static and Dynamic are different types,
// so that an endpoint or a key cannot reach a template by mistake.
type Config struct {
	Static  Static  `json:"static"`
	Dynamic Dynamic `json:"dynamic"`
	// Unplaced are for package explain, in a list for each host.
	Unplaced [][]Unplaced `json:"-"`
}

// Static is the content of nginx.conf. A reload is needed if and only if its rendered
// bytes differ.
type Static struct {
	// Blocks are the global settings, each printed by its templates in the
	// contexts main, events and http (see Block).
	Blocks []Block `json:"blocks,omitempty"`
	// DHParams are Diffie-Hellman parameters in PEM, empty for none. They are public.
	DHParams string `json:"dhParams,omitempty"`
	// DebugToken is the SHA-256 in hexadecimal of the token for the header X-Sluice-Debug,
	// empty for none.
	DebugToken string `json:"debugToken,omitempty"`
	// Servers are sorted by Host. Those with patterns among their Aliases come last, in
	// the order in which nginx tries the patterns. The catch-all server ("") always
	// exists and comes first.
	Servers []*Server `json:"servers,omitempty"`
	// Streams are sorted by protocol and port.
	Streams []Stream `json:"streams,omitempty"`
	// PassesThrough is set if nginx reads the server name of TLS connections, to pass
	// on those to the hosts of Passthroughs, which are sorted by Host. It does not
	// depend on the number of Passthroughs, so that no Ingress changes how others are
	// reached.
	PassesThrough bool          `json:"passesThrough,omitempty"`
	Passthroughs  []Passthrough `json:"passthroughs,omitempty"`
}

// Server is one host.
type Server struct {
	// Host is "" for the catch-all server, a precise name, or "*.name".
	Host string `json:"host"`
	// Listener names the ports that it is served on; empty for those of HTTP and HTTPS.
	Listener string `json:"listener,omitempty"`
	// AnyLabels is set if the "*" of Host stands for any number of labels, not for one.
	AnyLabels bool `json:"anyLabels,omitempty"`
	// Aliases are further names in nginx's notation, sorted: precise ones,
	// "*.name" and "name.*" for any number of labels, "~" with a pattern.
	Aliases []string `json:"aliases,omitempty"`
	// AliasesFrom is the Ingress that asked for them.
	AliasesFrom ObjectRef `json:"aliasesFrom,omitzero"`
	// AliasesOnly is set if Host has another server, before this one: because the
	// redirect of the Aliases differs, or because Host is a wildcard.
	AliasesOnly bool `json:"aliasesOnly,omitempty"`
	// RedirectToHTTPS is set if every location of the server redirects plain requests.
	// The server does it once instead of each location.
	RedirectToHTTPS *Redirect `json:"redirectToHTTPS,omitempty"`
	// TLS is nil for the TLS of the catch-all server, which never has its own.
	TLS *ServerTLS `json:"tls,omitempty"`
	// Blocks are those of behaviours at server level.
	Blocks []Block `json:"blocks,omitempty"`
	// Locations are in the order of route.Sort.
	Locations []*Location `json:"locations,omitempty"`
	// Internal are the locations that no client reaches, sorted by modifier and path.
	Internal []*Internal `json:"internal,omitempty"`
}

// Key identifies the server.
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

// Taker is the location of a rule that takes all requests which no other path takes,
// nil for none.
func (s *Server) Taker() *Location {
	for _, l := range s.Locations {
		if l.Rule.Kind == RuleWritten && l.IsRoot() {
			return l
		}
	}
	return nil
}

// LongestToken is the longest token of nginx.conf, in bytes as printed. nginx reads
// through a buffer of 4,096 bytes and rejects a token that does not fit with "too long
// parameter".
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

// Location is one location of a server: its match, its rule, and its answer.
type Location struct {
	Modifier Modifier `json:"modifier"`
	// Path is the decoded path, or the complete pattern ("^/foo") for Pattern.
	Path string `json:"path"`
	// MatchLimit is the number of steps that a Pattern may take, 0 for that of the
	// settings.
	MatchLimit int `json:"matchLimit,omitempty"`
	// Rule is the rule of the object that asked for it.
	Rule Rule `json:"rule"`
	// RedirectToHTTPS redirects plain requests of this location only.
	RedirectToHTTPS *Redirect `json:"redirectToHTTPS,omitempty"`
	// PlainHTTP is the reason why plain requests are redirected to HTTPS or not, for
	// explanations; empty if no rule asks.
	PlainHTTP string `json:"-"`
	// Rewrite changes the URI before it is passed on.
	Rewrite *Rewrite `json:"rewrite,omitempty"`
	// Blocks are those of decorating behaviours at location level, in the order of the
	// table of package annotations.
	Blocks []Block `json:"blocks,omitempty"`
	// Exactly one of the three answers requests.
	Proxy  *Proxy  `json:"proxy,omitempty"`
	Return *Return `json:"return,omitempty"`
	// Computed are the variables that Lua computes, in its order.
	Computed []Computed `json:"computed,omitempty"`
	// Recorded is set if a span is recorded of each request that has one.
	Recorded bool `json:"recorded,omitempty"`
	// Dispatch passes a request to the first candidate whose Match holds. The last one
	// takes all requests.
	Dispatch []Candidate `json:"dispatch,omitempty"`
}

// Closed is a location with the same match and rule that returns 503.
func (l *Location) Closed() *Location {
	return &Location{Modifier: l.Modifier, Path: l.Path, Rule: l.Rule, Return: &Return{Code: 503}}
}

// IsRoot reports whether the location takes the requests that nothing else matches.
func (l *Location) IsRoot() bool {
	switch l.Modifier {
	case Equal:
		return false
	case Pattern:
		return l.Rule.Path == "/" && l.Rule.PathType != "Exact"
	}
	return l.Path == "/"
}

// Rule is the origin of a location.
type Rule struct {
	Object ObjectRef `json:"object"`
	// Field is the path of the field within the object, such as
	// "spec.rules[0].http.paths[2]"; empty for a location that Sluice adds.
	Field string `json:"field,omitempty"`
	// Path and PathType are as the user wrote them.
	Path     string `json:"path"`
	PathType string `json:"pathType,omitempty"`
	// Kind is the reason for the location: "rule", "fallback" (for requests that no
	// rule takes), "shadow" (keeps nginx from redirecting /foo to /foo/), "redirect"
	// (redirects /), "closed" (returns 503 in place of a path that cannot be served),
	// "health" (answers checks of load balancers), "dispatch" (passes requests on by
	// method, header or query), "error" (answers in place of an error of another
	// location, of which it keeps the variables).
	Kind RuleKind `json:"kind"`
	// Protects is set if the object protects its paths, or should: the location returns
	// 503 instead of being left out.
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
	RuleStatus   RuleKind = "status"
	RuleDispatch RuleKind = "dispatch"
	RuleError    RuleKind = "error"
)

// Redirect redirects plain HTTP to HTTPS.
type Redirect struct {
	// Code is the status: 301, 302, 307 or 308.
	Code int `json:"code"`
	// Port is added to the host unless it is 0.
	Port int `json:"port"`
	// KeepTrailingSlash keeps a "/" at the end of the URI.
	KeepTrailingSlash bool `json:"keepTrailingSlash,omitempty"`
}

// Rewrite replaces a URI that matches Pattern by Target, which may use $1 to $9 and the
// named groups of Pattern. Pattern is never empty.
type Rewrite struct {
	Pattern string `json:"pattern,omitempty"`
	Target  string `json:"target,omitempty"`
	// Prefix is the header X-Forwarded-Prefix, with variables as in Target;
	// empty for none.
	Prefix string `json:"prefix,omitempty"`
}

// Return is a status, returned at once.
type Return struct {
	Code int
	// URL is the target of a redirect, empty for none. It is as the user wrote it: it
	// may begin with "/", for the host of the request, and contain variables.
	URL string `json:"url,omitempty"`
	// Own are variables of the owner's snippets that may be in it, with spaces between.
	Own string `json:"own,omitempty"`
	// Relative is set if a URL without a host is sent as it is.
	Relative bool `json:"relative,omitempty"`
	// GRPCError is set in a named location that answers errors of nginx. A gRPC client
	// gets the error as a grpc-status, others get the page of the error.
	GRPCError bool `json:"grpcError,omitempty"`
	// OfError is set in a named location that answers in place of errors: it returns the
	// status of the error.
	OfError bool `json:"ofError,omitempty"`
	// Statistics is set if the answer is nginx's counters of connections.
	Statistics bool `json:"statistics,omitempty"`
}

// Proxy passes a request to a backend.
type Proxy struct {
	// Backend is the Key of a Backend of Dynamic.
	Backend string `json:"backend,omitempty"`
	// Service is the Service and port that were asked for, for logs.
	Service ServicePort `json:"service"`
	// Watched is set if the balancer has to know when each request ends.
	Watched bool `json:"watched,omitempty"`
	// Transport selects the upstream: there is one for each transport, so that kept
	// connections never mix.
	Transport Transport `json:"transport,omitzero"`
	// Pool is the pool of kept connections of subrequests; zero for that of all backends
	// with the Transport.
	Pool Pool `json:"pool,omitzero"`
	// URI is the URI of subrequests to the backend, empty for that of the request. It
	// is a path that may contain variables.
	URI string `json:"uri,omitempty"`
	// WhenEmpty is the status that the location returns without endpoints, before it
	// asks the backend; 0 leaves the answer to the backend.
	WhenEmpty int `json:"whenEmpty,omitempty"`
	// OfError is set in a named location that answers in place of errors. Without
	// endpoints, it returns the status of the error.
	OfError ErrorStatus `json:"ofError,omitempty"`
}

// ErrorStatus is the status of an answer in place of an error: that of the backend, or that
// of the error.
type ErrorStatus string

// The statuses.
const (
	StatusOfBackend ErrorStatus = "backend"
	StatusOfError   ErrorStatus = "error"
)

// ServicePort is a port of a Service, by number or by name.
type ServicePort struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	Port      string `json:"port"`
}

// Transport is the kind of connection to a backend. The zero value is HTTP/1.1 without
// TLS. Two different values never share a kept connection.
type Transport struct {
	// Protocol is GRPC, FastCGI or AutoHTTP; empty for HTTP.
	Protocol BackendProtocol `json:"protocol,omitempty"`
	// TLS is set if nginx speaks TLS. With AutoHTTP it does so for requests over HTTPS.
	TLS bool `json:"tls,omitempty"`
	// Verify refuses a certificate that TrustedCA did not sign or that is not for Name.
	Verify bool `json:"verify,omitempty"`
	// Name is sent by SNI and verified; empty for none.
	Name string `json:"name,omitempty"`
	// TrustedCA is the PEM of the authorities. It is public, so it may be a file.
	TrustedCA string `json:"trustedCA,omitempty"`
	// VerifyDepth is the length of the longest accepted chain; 0 means 1.
	VerifyDepth int `json:"verifyDepth,omitempty"`
	// Certificate is the ID of the Certificate that nginx presents; empty for none.
	Certificate string `json:"certificate,omitempty"`
	// Ciphers and Protocols are as in nginx.conf; empty for the defaults of nginx.
	Ciphers   string `json:"ciphers,omitempty"`
	Protocols string `json:"protocols,omitempty"`
}

// BackendProtocol is the protocol between nginx and a backend.
type BackendProtocol string

// The protocols besides HTTP.
const (
	GRPC     BackendProtocol = "grpc"
	FastCGI  BackendProtocol = "fastcgi"
	AutoHTTP BackendProtocol = "auto" // HTTP or HTTPS, as the client speaks
)

// Pool is a pool of kept connections to backends. The zero value is the pool of the
// settings.
type Pool struct {
	// Own is set for a pool with these limits; Connections is 0 to keep none.
	Own         bool `json:"own,omitempty"`
	Connections int  `json:"connections,omitempty"`
	Requests    int  `json:"requests,omitempty"`
	Timeout     int  `json:"timeout,omitempty"` // in seconds
}

// Block is the output of a behaviour. The template "<Name>/<context>" is executed with
// Data in each context (main, events, http, server, location) that has one. In a
// location, "<Name>/first" comes before any answer, and "<Name>/answer" answers some
// requests itself. "<Name>/redirect" also applies to the redirects to HTTPS and to
// sign-in. "<Name>/shared" is printed once at http level; blocks with the same head
// become one block.
type Block struct {
	Name string `json:"name,omitempty"`
	// Data is a struct without maps and without pointers to objects.
	Data any `json:"data"`
	// Answers is set if it answers some requests of a location itself, before the
	// redirect to HTTPS.
	Answers bool `json:"answers,omitempty"`
	// Ends is set if it may end the processing of nginx's rewrite module, so that the
	// location's own redirect to HTTPS and status come before it.
	Ends bool `json:"ends,omitempty"`
	// Redirected is set if it applies to redirects of the location too. The redirect to
	// HTTPS is then in the location and not in the server.
	Redirected bool `json:"redirected,omitempty"`
	// SetsHeaders is set if it may change headers of all answers of the location, so that those of
	// a redirect must be in it.
	SetsHeaders bool `json:"setsHeaders,omitempty"`
	// Source is the object that asked for it, for the source map.
	Source ObjectRef `json:"source"`
}
