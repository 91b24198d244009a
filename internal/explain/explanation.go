package explain

import (
	"sluice/internal/model"
	"sluice/internal/route"
)

// Explanation is the result for one request. As JSON it is the output of
// `sluice explain -o json`: new versions may add fields, but rename none. Lists are
// never null, and every text is one printable line.
type Explanation struct {
	// Outcome is the answer in a few words, such as "503: KEY: TEXT". Summary is one
	// sentence.
	Outcome string  `json:"outcome"`
	Summary string  `json:"summary"`
	Request Request `json:"request"`
	Answer  Answer  `json:"answer"`
	Path    Path    `json:"path"`
	// Servers are those whose names come close to the host. Locations are those of the
	// deciding server. Both are in the order of nginx.conf, with nginx's verdicts.
	Servers   []Server   `json:"servers"`
	Locations []Location `json:"locations"`
	// Winner is null if no candidate takes the request.
	Winner *Candidate `json:"winner"`
	// Losers are all other candidates, the closest first. There are none if nginx
	// answers before it looks for a location.
	Losers []Candidate `json:"losers"`
	// Applied are the effects of the chosen location; null if there is none.
	Applied *Applied `json:"applied"`
	// Problems are those of the winner's Ingress.
	Problems []model.Problem `json:"problems"`
}

// Kind is the kind of an answer.
type Kind string

// The kinds of answer.
const (
	ToService   Kind = "service"   // Service answers
	ToRedirect  Kind = "redirect"  // Status and Location are answered
	ToStatus    Kind = "status"    // Status is answered
	NoHandshake Kind = "handshake" // the TLS handshake is refused
	PassedOn    Kind = "passed"    // the TLS connection is passed through to Service
	ToUnknown   Kind = "unknown"   // only nginx can tell
)

// Answer is the answer to a request.
type Answer struct {
	Kind   Kind `json:"kind"`
	Status int  `json:"status,omitempty"`
	// Location is the header of a redirect.
	Location string `json:"location,omitempty"`
	// Service is "namespace/name:port". With the kind status it is the error backend, without a
	// port: it answers in place of the status, and may give another one.
	Service string `json:"service,omitempty"`
	// Canaries are the Services that get some requests instead.
	Canaries []string `json:"canaries,omitempty"`
	// Why is the reason if the answer does not come from a Service, or comes from a canary.
	Why string `json:"why,omitempty"`
	// Unless are the reasons why the answer may be another one, such as "its server-snippet says
	// something else".
	Unless []string `json:"unless,omitempty"`
}

// Path is the path that nginx compares with locations.
type Path struct {
	// Normalized is empty if nginx rejects the URI.
	Normalized string       `json:"normalized"`
	Steps      []route.Step `json:"steps"`
	// Refusal is the reason if nginx answers 400.
	Refusal string `json:"refusal,omitempty"`
}

// Server is a server whose names come close to the host. Host is empty for the
// catch-all server.
type Server struct {
	Host string `json:"host"`
	// Alias is the matching alias; empty if the host itself matches.
	Alias   string        `json:"alias,omitempty"`
	Verdict route.Verdict `json:"verdict"`
	// By is the host of the winner.
	By string `json:"by"`
}

// Location is a location of the deciding server.
type Location struct {
	Modifier model.Modifier  `json:"modifier"`
	Path     string          `json:"path"`
	Object   model.ObjectRef `json:"object"`
	Field    string          `json:"field"`
	Verdict  route.Verdict   `json:"verdict"`
	// By is the winner, as in nginx.conf.
	By string `json:"by"`
}

// Candidate is a rule, defaultBackend or fallback whose host fits the request.
type Candidate struct {
	Kind CandidateKind `json:"kind"`
	// Object is the owner, usually an Ingress; empty for Sluice's own fallback.
	Object model.ObjectRef `json:"object"`
	// Field is such as "spec.rules[0].http.paths[2]"; empty for a fallback.
	Field string `json:"field"`
	// Host, Path and PathType are as written.
	Host     string `json:"host"`
	Path     string `json:"path"`
	PathType string `json:"pathType"`
	// Match are the conditions on the method, the headers and the query.
	Match string `json:"match,omitempty"`
	// Backend is "namespace/name:port", or a status, with the URL if it is a redirect.
	Backend string  `json:"backend"`
	Verdict Verdict `json:"verdict"`
	// Why is the verdict in words.
	Why string `json:"why"`
	// Problems are those of this candidate.
	Problems []model.Problem `json:"problems"`
}

// CandidateKind is the kind of a candidate.
type CandidateKind string

// The kinds of candidate.
const (
	FromRule           CandidateKind = "rule"           // a path of a rule
	FromDefaultBackend CandidateKind = "defaultBackend" // a spec.defaultBackend
	FromRedirect       CandidateKind = "redirects"      // a line of redirects
	FromAppRoot        CandidateKind = "appRoot"        // an app-root, for / of its host
	FromFallback       CandidateKind = "fallback"       // Sluice's location for requests that no rule takes
	FromStatus         CandidateKind = "status"         // Sluice's location for nginx's counters
	FromHealth         CandidateKind = "health"         // Sluice's location for the checks of load balancers
)

// Verdict is the result for a candidate. The verdicts of nginx's choice of a location
// are those of package route, those of a candidate without one the Causes of model.
type Verdict string

// The verdicts, in the order in which losers are listed.
const (
	Wins             = Verdict(route.Wins)
	Undecided        = Verdict(route.Undecided)
	ExactFirst       = Verdict(route.ExactFirst)
	SlashFirst       = Verdict(route.SlashFirst)
	LongerFirst      = Verdict(route.LongerFirst)
	PrefixOnlyFirst  = Verdict(route.PrefixOnlyFirst)
	PatternFirst     = Verdict(route.PatternFirst)
	EarlierFirst     = Verdict(route.EarlierFirst)
	MoreSpecific     = Verdict(route.MoreSpecificFirst)
	OtherRequests    = Verdict(route.OtherRequests)
	NotDelegated     = Verdict(model.NotDelegated) // another namespace owns its host, and does not delegate it
	PathsFirst       = Verdict(model.PathsFirst)
	HasProblem       = Verdict("HasProblem") // it is not served because of a Problem
	Repeated         = Verdict(model.SaidBefore)
	LeftOut          = Verdict("LeftOut") // its Ingress is not served
	SharesPath       = Verdict(model.SharesPath)
	OtherClass       = Verdict("OtherClass")       // its Ingress has another class
	LessSpecificHost = Verdict("LessSpecificHost") // another host is more specific
	OneLabel         = Verdict(route.OneLabel)
	DoesNotMatch     = Verdict(route.DoesNotMatch)
)

var verdictOrder = []Verdict{
	Wins, Undecided, ExactFirst, SlashFirst, LongerFirst, PrefixOnlyFirst, PatternFirst, EarlierFirst, MoreSpecific, OtherRequests, NotDelegated, PathsFirst, HasProblem, Repeated,
	SharesPath, LeftOut, OtherClass, LessSpecificHost, OneLabel, DoesNotMatch,
}

// Applied are the effects of the chosen location on the request.
type Applied struct {
	Redirect Redirect `json:"redirect"`
	// Denied is null if the location is served.
	Denied  *Denied  `json:"denied"`
	Rewrite *Rewrite `json:"rewrite"`
	// Behaviours are those with an effect.
	Behaviours []Behaviour `json:"behaviours"`
	// Backend is null if the location returns a status.
	Backend *Backend `json:"backend"`
}

// Redirect tells whether plain HTTP is redirected to HTTPS.
type Redirect struct {
	// Redirects is set if this request is redirected. It is false for HTTPS.
	Redirects bool   `json:"redirects"`
	Status    int    `json:"status,omitempty"`
	Location  string `json:"location,omitempty"`
	// Why is the reason, also if it is not redirected.
	Why string `json:"why"`
}

// Denied gives the Problems because of which a path returns a status.
type Denied struct {
	Status   int             `json:"status"`
	Problems []model.Problem `json:"problems"`
}

// Rewrite replaces the match of Pattern in the path with Target.
type Rewrite struct {
	Pattern string `json:"pattern"`
	Target  string `json:"target"`
	// Path is the resulting URI; empty if only nginx can tell.
	Path string `json:"path"`
}

// Behaviour is a behaviour of annotations or settings.
type Behaviour struct {
	Name string `json:"name"`
	// Answers is set if it answers some requests itself; Refuses if it lets only some
	// requests through.
	Answers bool `json:"answers"`
	Refuses bool `json:"refuses"`
	// Snippet is set if it consists of the user's directives, which can change the answer.
	Snippet bool `json:"snippet,omitempty"`
	// Target is the URL that it sends subrequests to.
	Target string `json:"target,omitempty"`
	Keys   []Key  `json:"keys"`
}

// Source is where the value of a key comes from.
type Source string

// The sources.
const (
	FromAnnotation Source = "annotation"
	FromSetting    Source = "setting"
	FromDefault    Source = "default"
)

// Key is a key of a behaviour with the value that holds.
type Key struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Source Source `json:"source"`
	// Object is the Ingress, Namespace or ConfigMap with the value, and Name the annotation
	// or key there. Inherited is set if that gives annotations to all Ingresses.
	Object    model.ObjectRef `json:"object"`
	Name      string          `json:"name"`
	Inherited bool            `json:"inherited,omitempty"`
}

// Backend is the backend of the request.
type Backend struct {
	Service model.ServicePort `json:"service"`
	// Default is set for the default backend of the controller.
	Default   bool      `json:"default"`
	Transport Transport `json:"transport"`
	// Endpoints are "address:port".
	Endpoints []string `json:"endpoints"`
	// Failing are the endpoints that fail their health check, as "address:port: reason". They
	// get no requests, unless all fail.
	Failing []string `json:"failing,omitempty"`
	// ExternalName is "name:port", which the controller resolves.
	ExternalName string `json:"externalName,omitempty"`
	// Picked describes how an endpoint is picked, if not in turn.
	Picked string `json:"picked,omitempty"`
	// Shares are the backends of canaries, which get some requests.
	Shares []Share `json:"shares,omitempty"`
	// Drawn is the reason if the Service is a canary that certainly gets the request.
	Drawn string `json:"drawn,omitempty"`
	// Status is the answer while there is no endpoint.
	Status int `json:"status"`
	// Why is the reason if there is none.
	Why string `json:"why,omitempty"`
}

// Share is a backend that gets some requests of another.
type Share struct {
	// Service is "namespace/name:port".
	Service string `json:"service"`
	// Gets describes these requests.
	Gets string `json:"gets"`
	// Possible is set if it may get this request.
	Possible bool `json:"possible"`
}

// Transport is the protocol between nginx and the backend.
type Transport struct {
	// Protocol is "grpc", "fastcgi", or "auto" for HTTP or HTTPS as the client speaks; empty
	// for HTTP.
	Protocol string `json:"protocol,omitempty"`
	TLS      bool   `json:"tls"`
	// Verify is set if the backend's certificate must be one for Name.
	Verify bool   `json:"verify"`
	Name   string `json:"name,omitempty"`
}
