package explain

import (
	"sluice/internal/model"
	"sluice/internal/route"
)

// Explanation is what is known of one request. As JSON it is the output of
// `sluice explain -o json`: fields may be added to it, none is renamed. Lists are
// never null, and every text is one printable line.
type Explanation struct {
	// Outcome is the answer in a few words, such as "503: KEY: TEXT", and Summary in
	// one sentence.
	Outcome string  `json:"outcome"`
	Summary string  `json:"summary"`
	Request Request `json:"request"`
	Answer  Answer  `json:"answer"`
	Path    Path    `json:"path"`
	// Servers are those that the host could mean, Locations those of the one that
	// decides; both as nginx.conf has them, with what nginx makes of them.
	Servers   []Server   `json:"servers"`
	Locations []Location `json:"locations"`
	// Winner is null where nothing that an object asks for takes the request.
	Winner *Candidate `json:"winner"`
	// Losers are all other candidates, those that come closest first; none where
	// nginx answers before it looks for a location.
	Losers []Candidate `json:"losers"`
	// Applied is what is done where the request is taken; null where it is not.
	Applied *Applied `json:"applied"`
	// Problems are those of the winner's Ingress.
	Problems []model.Problem `json:"problems"`
}

// Kind says in which way a request is answered.
type Kind string

// The kinds of answer.
const (
	ToService   Kind = "service"   // Service answers
	ToRedirect  Kind = "redirect"  // Status and Location are answered
	ToStatus    Kind = "status"    // Status is answered
	NoHandshake Kind = "handshake" // the TLS handshake is refused
	PassedOn    Kind = "passed"    // the TLS connection is passed to Service as it is
	ToUnknown   Kind = "unknown"   // only nginx can tell
)

// Answer is what answers.
type Answer struct {
	Kind   Kind `json:"kind"`
	Status int  `json:"status,omitempty"`
	// Location is the header of a redirect.
	Location string `json:"location,omitempty"`
	// Service is "namespace/name:port".
	Service string `json:"service,omitempty"`
	// Canaries are the Services that get some of the requests instead.
	Canaries []string `json:"canaries,omitempty"`
	// Why says why it is not a Service that answers.
	Why string `json:"why,omitempty"`
}

// Path is the path that locations are compared with, and how it came about.
type Path struct {
	// Normalized is empty where nginx refuses the URI.
	Normalized string `json:"normalized"`
	Steps      []Step `json:"steps"`
	// Refusal says why nginx answers 400.
	Refusal string `json:"refusal,omitempty"`
}

// Step is one thing that nginx did to the URI, and what came of it.
type Step struct {
	Kind route.StepKind `json:"kind"`
	Path string         `json:"path"`
}

// Server is a server that the host could mean; Host is empty for the catch-all one.
type Server struct {
	Host string `json:"host"`
	// Alias is the further name of the host that fits, empty for the host itself.
	Alias   string        `json:"alias,omitempty"`
	Verdict route.Verdict `json:"verdict"`
	// By is the host of what comes first.
	By string `json:"by"`
}

// Location is a location of the server that decides.
type Location struct {
	Modifier model.Modifier  `json:"modifier"`
	Path     string          `json:"path"`
	Object   model.ObjectRef `json:"object"`
	Field    string          `json:"field"`
	Verdict  route.Verdict   `json:"verdict"`
	// By is what comes first, as nginx.conf has it.
	By string `json:"by"`
}

// Candidate is something that could be meant for the request by its host.
type Candidate struct {
	Kind CandidateKind `json:"kind"`
	// Object is the Ingress. A fallback that belongs to none has none.
	Object model.ObjectRef `json:"object"`
	// Field is such as "spec.rules[0].http.paths[2]"; empty for a fallback.
	Field string `json:"field"`
	// Host, Path and PathType are as written.
	Host     string `json:"host"`
	Path     string `json:"path"`
	PathType string `json:"pathType"`
	// Match is what the rule asks of the method, the headers and the query.
	Match string `json:"match,omitempty"`
	// Backend is "namespace/name:port" or the status that is answered, with the URL
	// of a redirect.
	Backend string  `json:"backend"`
	Verdict Verdict `json:"verdict"`
	// Why gives the verdict as words.
	Why string `json:"why"`
	// Problems are those that concern this candidate.
	Problems []model.Problem `json:"problems"`
}

// CandidateKind is what a candidate is.
type CandidateKind string

// The kinds of candidate.
const (
	FromRule           CandidateKind = "rule"           // a path of a rule
	FromDefaultBackend CandidateKind = "defaultBackend" // a spec.defaultBackend
	FromAppRoot        CandidateKind = "appRoot"        // an app-root, for / of its host
	FromFallback       CandidateKind = "fallback"       // what Sluice adds for what no rule takes
	FromHealth         CandidateKind = "health"         // what Sluice adds for the checks of load balancers
)

// Verdict is what became of a candidate. Those of nginx's choice of a location
// are the same words as in package route.
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
	PathsFirst       = Verdict("PathsFirst")       // paths of the host leave nothing for a default backend
	HasProblem       = Verdict("HasProblem")       // a Problem of the rule keeps it out
	Repeated         = Verdict("Repeated")         // its Ingress says the same before
	LeftOut          = Verdict("LeftOut")          // its Ingress is left out
	SharesPath       = Verdict("SharesPath")       // it is a canary: the location is that of another Ingress
	OtherClass       = Verdict("OtherClass")       // its Ingress is of another class
	LessSpecificHost = Verdict("LessSpecificHost") // another host fits better
	OneLabel         = Verdict(route.OneLabel)
	DoesNotMatch     = Verdict(route.DoesNotMatch)
)

var verdictOrder = []Verdict{
	Wins, Undecided, ExactFirst, SlashFirst, LongerFirst, PrefixOnlyFirst, PatternFirst, EarlierFirst, MoreSpecific, OtherRequests, NotDelegated, PathsFirst, HasProblem, Repeated,
	SharesPath, LeftOut, OtherClass, LessSpecificHost, OneLabel, DoesNotMatch,
}

// Applied is what is done with the request at the location that takes it.
type Applied struct {
	Redirect Redirect `json:"redirect"`
	// Denied is null where the location is served.
	Denied  *Denied  `json:"denied"`
	Rewrite *Rewrite `json:"rewrite"`
	// Behaviours are those that have an effect.
	Behaviours []Behaviour `json:"behaviours"`
	// Backend is null where a status is answered.
	Backend *Backend `json:"backend"`
}

// Redirect says whether plain HTTP is redirected to HTTPS.
type Redirect struct {
	// Redirects is about this request: it is false for HTTPS.
	Redirects bool   `json:"redirects"`
	Status    int    `json:"status,omitempty"`
	Location  string `json:"location,omitempty"`
	// Why says why it is redirected or not.
	Why string `json:"why"`
}

// Denied says why a path answers a status instead of being served.
type Denied struct {
	Status   int             `json:"status"`
	Problems []model.Problem `json:"problems"`
}

// Rewrite replaces what Pattern matches in the path by Target.
type Rewrite struct {
	Pattern string `json:"pattern"`
	Target  string `json:"target"`
	// Path is what the backend is asked for; empty where it cannot be told.
	Path string `json:"path"`
}

// Behaviour is one of those that users switch on by annotations.
type Behaviour struct {
	Name string `json:"name"`
	// Answers is set if it answers some requests by itself, Refuses if it lets only
	// some requests through.
	Answers bool `json:"answers"`
	Refuses bool `json:"refuses"`
	// Snippet is set if it is directives of nginx, which may do something else.
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
	// Object says it, under Name: an Ingress or the ConfigMap.
	Object model.ObjectRef `json:"object"`
	Name   string          `json:"name"`
}

// Backend is where the request is passed to.
type Backend struct {
	Service model.ServicePort `json:"service"`
	// Default is set for the default backend of the controller.
	Default   bool      `json:"default"`
	Transport Transport `json:"transport"`
	// Endpoints are "address:port".
	Endpoints []string `json:"endpoints"`
	// ExternalName is "name:port", which the controller resolves.
	ExternalName string `json:"externalName,omitempty"`
	// Picked says how an endpoint is picked, where not in turn.
	Picked string `json:"picked,omitempty"`
	// Shares are the backends of canaries, which get some of the requests.
	Shares []Share `json:"shares,omitempty"`
	// Status answers while there is no endpoint.
	Status int `json:"status"`
	// Why says why there is none.
	Why string `json:"why,omitempty"`
}

// Share is a backend that gets some of the requests of another.
type Share struct {
	// Service is "namespace/name:port".
	Service string `json:"service"`
	// Gets says which requests it gets.
	Gets string `json:"gets"`
}

// Transport is how nginx speaks to the backend.
type Transport struct {
	TLS bool `json:"tls"`
	// Verify is set if the backend's certificate must be one for Name.
	Verify bool   `json:"verify"`
	Name   string `json:"name,omitempty"`
}
