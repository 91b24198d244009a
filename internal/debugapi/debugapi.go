// Package debugapi is the contract of the controller's debug socket: the paths, their
// parameters, and the types of the JSON answers.
//
//	GET /conf?host=shop.example&format=json   -> Conf, of which a part can be asked for
//	GET /backends?name=shop/web/80            -> []Backend
//	GET /certs?host=shop.example              -> []Certificate, the default one first
//	GET /general                              -> General
//	GET /routes?host=shop.example             -> []Route
//	GET /explain?url=https://shop.example/    -> package explain's Explanation
//	GET /live?url=https://shop.example/       -> Live: nginx is asked, too
//	GET /problems?namespace=shop              -> []model.Problem, which can be waited for
//	GET /reloads                              -> []Reload, the newest first
//	GET /traffic?namespace=shop               -> Traffic, if requests are counted
//	POST /diff                                -> package diff's Result, for the manifests of the body
//
// New versions may add fields, but rename none. Lists are never null. Every text except
// PEM is one printable line, whatever users wrote. An answer with another status than 200
// is one line of text: 400 gives the wrong parameter, its value and a valid one, 404 the
// thing that was not found, and 503 the reason why there is no answer yet. No answer
// contains a private key.
package debugapi

import (
	"time"

	"sluice/internal/model"
)

// Socket is the name of the unix socket in the state directory.
const Socket = "debug.sock"

// The paths.
const (
	ConfPath     = "/conf"
	BackendsPath = "/backends"
	CertsPath    = "/certs"
	GeneralPath  = "/general"
	RoutesPath   = "/routes"
	ExplainPath  = "/explain"
	LivePath     = "/live"
	ProblemsPath = "/problems"
	ReloadsPath  = "/reloads"
	TrafficPath  = "/traffic"
	DiffPath     = "/diff"
	// ProfilesPath begins the paths of Go's profiles of the process, such as
	// /debug/pprof/heap.
	ProfilesPath = "/debug/pprof/"
)

// The parameters. Each may be given once. A path rejects parameters that it does not
// know.
const (
	// HostParam is a host as in Ingresses: for ConfPath and RoutesPath the host of a server
	// ("*" for the catch-all one) or one of its aliases, for CertsPath the server name of a
	// client.
	HostParam = "host"
	// IngressParam is "namespace/name", for ConfPath, RoutesPath and ProblemsPath.
	IngressParam = "ingress"
	// NamespaceParam is for ProblemsPath and TrafficPath, and for DiffPath the namespace of
	// objects without one.
	NamespaceParam = "namespace"
	// NameParam is the name or the key of a backend, for BackendsPath.
	NameParam = "name"
	// FormatParam is Text (the default) or JSON, for ConfPath and ExplainPath, and for
	// DiffPath also Markdown.
	FormatParam = "format"
	// URLParam and MethodParam are the request for ExplainPath and LivePath. The default method
	// is GET. DecisionParam is for LivePath: the value of DecisionHeader in an answer that the
	// client already has.
	URLParam    = "url"
	MethodParam = "method"

	DecisionParam = "decision"
	// SearchParam, OffsetParam and LimitParam are for ConfPath with the format JSON. The lines
	// have all words of SearchParam, in any case, in their text, owner, behaviour, host or
	// stream. OffsetParam skips the first ones, and LimitParam is the maximum number of lines.
	SearchParam = "search"
	OffsetParam = "offset"
	LimitParam  = "limit"
)

// MostSearch is the maximum length of SearchParam in bytes. MostLimit is the maximum of
// LimitParam.
const (
	MostSearch = 200
	MostLimit  = 1000
)

// ProblemsPath can be asked again and again without missing a change: with the SHA-256 of the
// body of the answer before in hexadecimal as SinceParam, the answer comes when it is another
// one, or after the seconds of WaitParam, at most MostWait.
const (
	SinceParam = "since"
	WaitParam  = "wait"
	MostWait   = 60
)

// The formats.
const (
	Text     = "text"
	JSON     = "json"
	Markdown = "markdown"
)

// ChangedHeader is a header of the answer of DiffPath: "true" if something changes.
const ChangedHeader = "Sluice-Changed"

// MostManifests is the maximum length of the body for DiffPath in bytes.
const MostManifests = 8 << 20

// Conf is nginx.conf, or the selected lines of it. As Text it is the bytes of nginx.conf,
// or the selected lines with a blank line between groups of adjacent ones.
type Conf struct {
	// Hash is the SHA-256 of the whole file in hexadecimal, Total its number of
	// lines.
	Hash  string `json:"hash"`
	Total int    `json:"total"`
	// Matched is the number of selected lines, of which Lines are a part with OffsetParam or
	// LimitParam.
	Matched int    `json:"matched"`
	Lines   []Line `json:"lines"`
}

// Line is a line of nginx.conf with its owner.
type Line struct {
	// Number is from 1, as nginx counts.
	Number int `json:"number"`
	// Text has no line end; it keeps its tabs.
	Text string `json:"text"`
	// Object is the owner; empty for Sluice itself.
	Object model.ObjectRef `json:"object,omitzero"`
	// Behaviour is the behaviour that printed it, "" for the rule itself.
	Behaviour string `json:"behaviour,omitempty"`
	// Host is the host of its server, "" outside servers and in the catch-all server.
	Host string `json:"host,omitempty"`
	// Stream is the key of its TCP or UDP service, such as "tcp-9000".
	Stream string `json:"stream,omitempty"`
}

// Backend is a set of endpoints for requests, as last sent to nginx.
type Backend struct {
	// Key is Sluice's name, "namespace/service/port", followed by a hash if the endpoints
	// are not picked in turn. Name is that of ingress-nginx, "namespace-service-port".
	Key  string `json:"key"`
	Name string `json:"name"`
	// Port is a number or a name as written; empty for the default backend, which uses the
	// first port of its Service. Host replaces the Service if the target is none, such as
	// that of mirror-target.
	Namespace string     `json:"namespace"`
	Service   string     `json:"service"`
	Host      string     `json:"host,omitempty"`
	Port      string     `json:"port"`
	Endpoints []Endpoint `json:"endpoints"`
	// Failing are the endpoints that fail their health check. Endpoints does not have them,
	// unless all fail: then all get requests.
	Failing []Failing `json:"failing,omitempty"`
	// ExternalName is a DNS name that the controller resolves to the endpoints,
	// each with port ExternalPort.
	ExternalName string `json:"externalName,omitempty"`
	ExternalPort int    `json:"externalPort,omitempty"`
	// WhenEmpty is the status while there is no endpoint.
	WhenEmpty int `json:"whenEmpty"`
	// Picker picks an endpoint: "round_robin" or "cookie". A "split" has no endpoints. It
	// passes requests to the Shares, whose weights are parts of Total, and the rest to Main.
	// Cookie is the name of the cookie that its clients get, if any.
	Picker string  `json:"picker"`
	Cookie string  `json:"cookie,omitempty"`
	Main   string  `json:"main,omitempty"`
	Total  int     `json:"total,omitempty"`
	Shares []Share `json:"shares,omitempty"`
}

// Share is a backend that gets some requests of a split: by the first of its Rules that
// holds, or by Weight.
type Share struct {
	Backend string      `json:"backend"`
	Weight  int         `json:"weight"`
	Rules   []ShareRule `json:"rules,omitempty"`
}

// ShareRule decides whether a share takes requests for which a variable of nginx has a
// value, or matches a pattern.
type ShareRule struct {
	Variable string `json:"variable"`
	Value    string `json:"value"`
	Pattern  string `json:"pattern,omitempty"`
	Takes    bool   `json:"takes"`
}

// Endpoint is the address of a server. An IPv6 address has no brackets.
type Endpoint struct {
	Address string `json:"address"`
	Port    int    `json:"port"`
}

// Failing is an endpoint that fails its health check, with the last reason.
type Failing struct {
	Endpoint
	Reason string `json:"reason"`
}

// Origin is the origin of a certificate.
type Origin string

// The origins.
const (
	FromSecret Origin = "secret"
	// SelfSigned is made when the controller starts without a default certificate.
	SelfSigned Origin = "self-signed"
)

// Certificate is a certificate that nginx presents, without its key.
type Certificate struct {
	// Hosts are the server names that get it, sorted: precise ones and "*.name".
	Hosts []string `json:"hosts"`
	// Default is set if names without a certificate get it.
	Default bool `json:"default"`
	// From is its origin. Secrets are those that contain it, none if it is self-signed.
	From    Origin            `json:"from"`
	Secrets []model.ObjectRef `json:"secrets"`
	// Subject and Issuer are distinguished names.
	Subject   string    `json:"subject"`
	Issuer    string    `json:"issuer"`
	DNSNames  []string  `json:"dnsNames"`
	NotBefore time.Time `json:"notBefore"`
	NotAfter  time.Time `json:"notAfter"`
	// Serial is decimal. SHA256 is the fingerprint in hexadecimal.
	Serial string `json:"serial"`
	SHA256 string `json:"sha256"`
	// Chain is PEM, the certificate first, then the intermediates.
	Chain string `json:"chain"`
}

// General is the state of the controller.
type General struct {
	Version string `json:"version"`
	Nginx   Nginx  `json:"nginx"`
	// Ready is the answer of /readyz; Missing is the reason if it is not ready.
	Ready   bool   `json:"ready"`
	Missing string `json:"missing,omitempty"`
	// LastApply is null before the first attempt.
	LastApply *Apply `json:"lastApply"`
	// ConfHash is the SHA-256 of the last confirmed nginx.conf, empty before the first. It
	// differs from that of LastApply if that attempt failed.
	ConfHash string `json:"confHash"`
	Counts   Counts `json:"counts"`
	// Settings are those that differ from their defaults, in the order of docs/reference.
	Settings []Setting `json:"settings"`
	// Leader is null without an election.
	Leader *Leader `json:"leader"`
}

// Nginx is the running nginx.
type Nginx struct {
	// Version is a number such as "1.26.3".
	Version string `json:"version"`
	// Capabilities are the features that Sluice can use, sorted.
	Capabilities []string `json:"capabilities"`
	// Answers is set if a worker answered now; Error is the reason if none did.
	Answers bool   `json:"answers"`
	Error   string `json:"error,omitempty"`
	// Load is the number of files that this nginx has loaded. Workers is the number of
	// workers that accept connections. Both are 0 if no worker answered.
	Load    int `json:"load"`
	Workers int `json:"workers"`
	// Memory is the use of the dictionaries for certificates and endpoints, by the names of
	// the setting lua-shared-dicts; empty if no worker answered.
	Memory []Memory `json:"memory"`
}

// Memory is the size of a dictionary of nginx and its used part, in bytes.
type Memory struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
	Used int64  `json:"used"`
}

// Apply is one attempt to apply a configuration to nginx.
type Apply struct {
	// At is its end. Seconds is its duration, including the reading of the objects.
	At      time.Time `json:"at"`
	Seconds float64   `json:"seconds"`
	// Reloaded is false if only endpoints or certificates changed.
	Reloaded bool   `json:"reloaded"`
	Hash     string `json:"hash"`
	// Error is empty if it succeeded.
	Error string `json:"error,omitempty"`
}

// Counts are the numbers of confirmed objects, and of current Problems.
type Counts struct {
	Ingresses    int `json:"ingresses"`
	Servers      int `json:"servers"`
	Locations    int `json:"locations"`
	Backends     int `json:"backends"`
	Certificates int `json:"certificates"`
	Problems     int `json:"problems"`
}

// Setting is a key of the ConfigMap.
type Setting struct {
	Key     string `json:"key"`
	Value   string `json:"value"`
	Default string `json:"default"`
}

// Leader is the replica that writes to the cluster.
type Leader struct {
	// Leads is set if this replica leads. Identity is the name of the leading pod, empty
	// while it is not known.
	Leads    bool   `json:"leads"`
	Identity string `json:"identity"`
}

// Route is one rule of the routing table.
type Route struct {
	// Host is "*" for the catch-all server.
	Host string `json:"host"`
	// Match is exact, prefix, pattern or fallback.
	Match string `json:"match"`
	// Path is the path as written.
	Path string `json:"path"`
	// Answer is the key of the backend, or a status with the URL of a redirect.
	Answer string `json:"answer"`
	// Object is the owner of the rule; empty for locations of Sluice.
	Object model.ObjectRef `json:"object,omitzero"`
	// Extras are the further effects: "rewrite", "https" and the names of behaviours.
	Extras []string `json:"extras"`
}
