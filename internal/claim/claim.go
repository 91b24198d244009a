// Package claim holds what objects ask of nginx: to pass the requests of a host and a path,
// or some of them, to a Service. A source, such as that of Ingresses, makes owners with
// their claims; package assemble makes servers of them.
package claim

import (
	"sluice/internal/annotations"
	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
)

// Owner is an object that makes claims, as its source read it. It never changes, and is
// identified by its pointer.
type Owner struct {
	Ref model.ObjectRef
	Age Age
	HostPolicy
	// Settings are those of its class.
	Settings *settings.Settings
	// Annotations are those of its paths that have none of their own.
	Annotations *annotations.Annotations
	// PrefixKey is the prefix of its annotations, with the slash.
	PrefixKey string
	// Attached holds the data of groups of annotations, by the pointer to the group.
	// Paths with the same group share it.
	Attached map[any]*Attached
	// Denied is set if every path returns 503, whatever the annotations say.
	Denied bool
	// Denial is set if options of the controller, or its class, deny the owner.
	Denial Denial
	// KeepsSnippet is set if its server snippet stays in its hosts though it is denied.
	KeepsSnippet bool

	// Passes is set if it asks to pass on the TLS connections of its hosts.
	Passes bool
	// Canary is set if its claims only take a share of the requests of other claims.
	Canary bool
	Hosts  []*Rules
	// Fallback takes the requests of its hosts that no rule takes; nil for none.
	Fallback *Claim
	// Ruleless is set if it has no rules: its fallback is for the catch-all host.
	Ruleless bool
	Problems []model.Problem
}

// DefaultBackendField is the field of Fallback.
const DefaultBackendField = "spec.defaultBackend"

// Rules are the claims of one owner for one host. Field is where the owner names the
// host; it is empty if no rule does.
type Rules struct {
	Owner  *Owner
	Host   string
	Field  string
	Claims []Claim
	// AnyLabels is set if the "*" of the host stands for any number of labels.
	AnyLabels bool
}

// Claim is one path that an owner asks for, with its host known.
type Claim struct {
	Owner *Owner
	// Annotations are those of the path.
	Annotations *annotations.Annotations
	// Field is the field of the path, such as "spec.rules[0].http.paths[2]".
	Field string
	// Path is as written, or "/" if there is none.
	Path     string
	PathType PathType
	// Match selects requests of the path; nil for all.
	Match *model.Match
	// Action answers its requests.
	Action Action
	// Broken is set if no host can serve it; a Problem has the reason. Closed is set if
	// all requests that it could mean get 503.
	Broken, Closed bool
}

// PathType is the way to compare a path, in Kubernetes' own words.
type PathType string

// The types of Kubernetes.
const (
	Exact                  PathType = "Exact"
	Prefix                 PathType = "Prefix"
	ImplementationSpecific PathType = "ImplementationSpecific"
)

// RedirectPath returns the path of the claim of a redirect.
func RedirectPath(r *keys.Redirection) (string, PathType) {
	if r.Below {
		return r.From + "/", Prefix
	}
	return r.From, Exact
}

// Action passes requests on or redirects them. Exactly one of its fields is set.
type Action struct {
	Service  *Service
	Redirect *keys.Redirection
	// Default is set for the default backend.
	Default bool
}

// Service is the Service that gets the requests of a claim.
type Service struct {
	Name snapshot.Name
	Port string
	// PortField is the field of the port below "service".
	PortField string
	// Fault is set if the requests get 503 instead.
	Fault *Fault
}

// Fault is a mistake in a backend, in a field below that of the backend.
type Fault struct {
	Field  string
	Reason model.Reason
	Text   string
}

// Same reports whether two actions are equal and have no fault.
func (a Action) Same(b Action) bool {
	return a == b || a.Service != nil && b.Service != nil && a.Service.Fault == nil && *a.Service == *b.Service
}

// HostPolicy is the part of an owner that affects the whole of each of its hosts.
type HostPolicy struct {
	// Aliases are further names of its hosts.
	Aliases []string
	// TLS assigns certificates to its hosts, in the field TLSField.
	TLS      TLS
	TLSField string
	// Delegation lists the namespaces that may have paths on its hosts, as written.
	Delegation string
}

// Denial is the extent of a denial; the zero value denies nothing.
type Denial int

const (
	// DenyButSnippet closes the paths like DenyPaths, for a reason that is not in the server
	// snippet, which stays.
	DenyButSnippet Denial = iota + 1
	// DenyUntested closes the paths like DenyPaths until nginx tested the server snippet. So
	// the other paths of the namespace on its hosts return 503.
	DenyUntested
	// DenyPaths closes the paths as written, if nginx is sure to accept them.
	DenyPaths
	// DenyBeginnings closes everything that begins with the same plain characters as a
	// path, and ignores patterns among the aliases.
	DenyBeginnings
)
