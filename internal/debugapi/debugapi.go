// Package debugapi is the contract of the controller's debug socket: the paths that
// can be asked for, their parameters, and what is answered as JSON.
//
//	GET /conf?host=shop.example&format=json   -> Conf
//	GET /backends?name=shop/web/80            -> []Backend
//	GET /certs?host=shop.example              -> []Certificate, the default one first
//	GET /general                              -> General
//	GET /routes?host=shop.example             -> []Route
//	GET /explain?url=https://shop.example/    -> package explain's Explanation
//	GET /problems?namespace=shop              -> []model.Problem
//
// Fields may be added to the types, none is renamed. Lists are never null, and
// every text but that of a PEM is one printable line, whatever users wrote. An
// answer that is no 200 is one line of text: 400 names the parameter that is
// wrong, its value and what is valid, 404 says what was not found, and 503 what
// is missing before anything can be told. No answer holds a private key.
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
	ProblemsPath = "/problems"
)

// The parameters. Each is given at most once; one that a path does not know is
// refused.
const (
	// HostParam is a host as Ingresses write it: for ConfPath and RoutesPath that
	// of a server ("*" for the catch-all one) or one of its aliases, for CertsPath
	// the server name that a client asks for.
	HostParam = "host"
	// IngressParam is "namespace/name", for ConfPath, RoutesPath and ProblemsPath.
	IngressParam = "ingress"
	// NamespaceParam is for ProblemsPath.
	NamespaceParam = "namespace"
	// NameParam is the name or the key of a backend, for BackendsPath.
	NameParam = "name"
	// FormatParam is Text or JSON, for ConfPath and ExplainPath; Text if it is
	// left out.
	FormatParam = "format"
	// URLParam and MethodParam are what ExplainPath explains; GET if the method is
	// left out.
	URLParam    = "url"
	MethodParam = "method"
)

// The formats.
const (
	Text = "text"
	JSON = "json"
)

// Conf is nginx.conf, or the lines of it that were asked for. As Text it is the
// bytes of nginx.conf, and of selected lines these lines, those that do not follow
// each other kept apart by a blank line.
type Conf struct {
	// Hash is the SHA-256 of the whole file in hexadecimal, Total its number of
	// lines.
	Hash  string `json:"hash"`
	Total int    `json:"total"`
	Lines []Line `json:"lines"`
}

// Line is a line of nginx.conf with who wrote it.
type Line struct {
	// Number is from 1, as nginx counts.
	Number int `json:"number"`
	// Text is without the end of the line; its tabs are kept.
	Text string `json:"text"`
	// Object asked for it; without one it is of Sluice itself.
	Object model.ObjectRef `json:"object,omitzero"`
	// Behaviour printed it, "" for the rule itself.
	Behaviour string `json:"behaviour,omitempty"`
	// Host is the server that it is in, "" for what is outside of all hosts and
	// for the catch-all server.
	Host string `json:"host,omitempty"`
	// Stream is the key of the TCP or UDP service that it is of, such as
	// "tcp-9000".
	Stream string `json:"stream,omitempty"`
}

// Backend is a set of endpoints that requests are spread over, as nginx was told
// of it last.
type Backend struct {
	// Key is Sluice's own name, "namespace/service/port", with a hash behind it where the
	// endpoints are not picked in turn; Name is that of ingress-nginx,
	// "namespace-service-port".
	Key  string `json:"key"`
	Name string `json:"name"`
	// Port is the number or the name that was asked for; empty for the default
	// backend, which has the first port of its Service. Host stands for the Service
	// where the target is none, as of mirror-target.
	Namespace string     `json:"namespace"`
	Service   string     `json:"service"`
	Host      string     `json:"host,omitempty"`
	Port      string     `json:"port"`
	Endpoints []Endpoint `json:"endpoints"`
	// ExternalName is a DNS name that the controller resolves to the endpoints,
	// each with port ExternalPort.
	ExternalName string `json:"externalName,omitempty"`
	ExternalPort int    `json:"externalPort,omitempty"`
	// WhenEmpty is the status that answers while there is no endpoint.
	WhenEmpty int `json:"whenEmpty"`
	// Picker picks an endpoint: "round_robin" or "cookie". A "split" has none, and gives
	// its requests to the Shares, whose weights are parts of Total, and else to Main;
	// their clients get the Cookie of that name, if any.
	Picker string  `json:"picker"`
	Cookie string  `json:"cookie,omitempty"`
	Main   string  `json:"main,omitempty"`
	Total  int     `json:"total,omitempty"`
	Shares []Share `json:"shares,omitempty"`
}

// Share is a backend that gets some requests of a split: by the first of its Rules that
// holds, else by Weight.
type Share struct {
	Backend string      `json:"backend"`
	Weight  int         `json:"weight"`
	Rules   []ShareRule `json:"rules,omitempty"`
}

// ShareRule says whether a share takes the requests for which a variable of nginx has a
// value.
type ShareRule struct {
	Variable string `json:"variable"`
	Value    string `json:"value"`
	Takes    bool   `json:"takes"`
}

// Endpoint is an address that serves; an IPv6 address is without brackets.
type Endpoint struct {
	Address string `json:"address"`
	Port    int    `json:"port"`
}

// Origin says where a certificate comes from.
type Origin string

// The origins.
const (
	FromSecret Origin = "secret"
	// SelfSigned is made at the start of the controller, for want of a default
	// certificate.
	SelfSigned Origin = "self-signed"
)

// Certificate is a certificate that nginx presents. Its key is never told.
type Certificate struct {
	// Hosts are the server names that get it, sorted: precise ones and "*.name".
	Hosts []string `json:"hosts"`
	// Default is set if names that have none of their own get it.
	Default bool `json:"default"`
	// From is where it is from. Secrets are those that hold it, none if it is
	// self-signed.
	From    Origin            `json:"from"`
	Secrets []model.ObjectRef `json:"secrets"`
	// Subject and Issuer are distinguished names.
	Subject   string    `json:"subject"`
	Issuer    string    `json:"issuer"`
	DNSNames  []string  `json:"dnsNames"`
	NotBefore time.Time `json:"notBefore"`
	NotAfter  time.Time `json:"notAfter"`
	// Serial is decimal, SHA256 the fingerprint in hexadecimal.
	Serial string `json:"serial"`
	SHA256 string `json:"sha256"`
	// Chain is PEM, the certificate first, then the intermediates.
	Chain string `json:"chain"`
}

// General is how the controller is.
type General struct {
	Version string `json:"version"`
	Nginx   Nginx  `json:"nginx"`
	// Ready is what /readyz says; Missing says why it is not.
	Ready   bool   `json:"ready"`
	Missing string `json:"missing,omitempty"`
	// LastApply is null until something was tried.
	LastApply *Apply `json:"lastApply"`
	// ConfHash is the SHA-256 of the nginx.conf that was confirmed last, empty
	// until one was. It differs from that of LastApply if that one failed.
	ConfHash string `json:"confHash"`
	Counts   Counts `json:"counts"`
	// Settings are those in force that differ from their defaults, in the order of
	// docs/reference.
	Settings []Setting `json:"settings"`
	// Leader is null where none is elected.
	Leader *Leader `json:"leader"`
}

// Nginx is the nginx that runs.
type Nginx struct {
	// Version is such as "1.26.3".
	Version string `json:"version"`
	// Capabilities are what it can do and Sluice asks of it, sorted.
	Capabilities []string `json:"capabilities"`
	// Answers is whether a worker answered just now, Error why not.
	Answers bool   `json:"answers"`
	Error   string `json:"error,omitempty"`
	// Load counts the times that this nginx has loaded a file, Workers are those
	// that accept; both 0 if none answered.
	Load    int `json:"load"`
	Workers int `json:"workers"`
	// Memory is how full is what nginx keeps certificates and endpoints in, by the
	// names of the setting lua-shared-dicts; empty if no worker answered.
	Memory []Memory `json:"memory"`
}

// Memory is how full one of nginx's dictionaries is, in bytes.
type Memory struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
	Used int64  `json:"used"`
}

// Apply is one attempt to have nginx serve a configuration.
type Apply struct {
	// At is when it ended, Seconds how long it took from the reading of the
	// objects.
	At      time.Time `json:"at"`
	Seconds float64   `json:"seconds"`
	// Reloaded is false if only endpoints or certificates changed.
	Reloaded bool   `json:"reloaded"`
	Hash     string `json:"hash"`
	// Error is empty if it succeeded.
	Error string `json:"error,omitempty"`
}

// Counts are how many there are, as far as confirmed; Problems are those of now.
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

// Leader is who writes to the cluster.
type Leader struct {
	// Leads is whether it is this replica. Identity is the name of the pod that
	// leads, empty while that is not known.
	Leads    bool   `json:"leads"`
	Identity string `json:"identity"`
}

// Route is one rule of the routing table.
type Route struct {
	// Host is "*" for the catch-all server.
	Host string `json:"host"`
	// Match is exact, prefix, pattern or fallback.
	Match string `json:"match"`
	// Path is as the user wrote it.
	Path string `json:"path"`
	// Answer is the key of the backend, or a status with the URL of a redirect.
	Answer string `json:"answer"`
	// Object asked for it; there is none for what Sluice adds itself.
	Object model.ObjectRef `json:"object,omitzero"`
	// Extras are what else is done there: "rewrite", "https" and the names of
	// behaviours.
	Extras []string `json:"extras"`
}
