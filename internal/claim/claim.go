// Package claim is what objects ask of nginx: the requests of a host and a path, or some
// of them, with what is done with them. A source, such as that of Ingresses, makes owners
// with their claims; package assemble makes servers of them.
package claim

import (
	"sluice/internal/annotations"
	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
)

// Owner is an object that makes claims, as its source read it. It does not change, and
// is known by its pointer.
type Owner struct {
	Ref model.ObjectRef
	Age Age
	HostPolicy
	// Settings are those of its class.
	Settings *settings.Settings
	// Annotations are those that hold for its paths that have none of their own.
	Annotations *annotations.Annotations
	// PrefixKey is the prefix of its annotations, with the slash.
	PrefixKey string
	// Attached is what its annotations get from other objects.
	Attached []*Attached
	// Denied: every path answers 503, whatever its annotations say.
	Denied bool
	// Denial is set if it is denied whatever it says: by options of the controller, or
	// with its class.
	Denial Denial

	// Passes: it asks for the TLS of its hosts to be passed on.
	Passes bool
	// Canary: its claims have no path of their own, but a share of those of others.
	Canary bool
	Hosts  []*Rules
	// Fallback takes the requests of its hosts that no rule takes, nil for none.
	Fallback *Claim
	// Ruleless: it has no rules, so that its fallback is everybody's.
	Ruleless bool
	Problems []model.Problem
}

// DefaultBackendField is the field of what takes the requests that no rule does.
const DefaultBackendField = "spec.defaultBackend"

// Rules are the claims of one owner for one host. Field is where it has the host,
// empty where it has it without a rule.
type Rules struct {
	Owner  *Owner
	Host   string
	Field  string
	Claims []Claim
	// AnyLabels is set if the "*" of the host stands for any number of labels.
	AnyLabels bool
}

// Claim is one path that an owner asks for, ready to be placed.
type Claim struct {
	Owner *Owner
	// Annotations are those that hold for the path.
	Annotations *annotations.Annotations
	// Field is the path of the field, such as "spec.rules[0].http.paths[2]".
	Field string
	// Path is as written, "/" where none is.
	Path     string
	PathType PathType
	// Match says which requests of the path are meant, nil for all.
	Match *model.Match
	// Action is nil for passing to the default backend.
	Action *Action
	// Broken: it cannot be served on any host, as a Problem says. Closed: all that it
	// could take answers 503.
	Broken, Closed bool
}

// PathType says how a claim's path is compared, in Kubernetes' own words.
type PathType string

// The types of Kubernetes.
const (
	Exact                  PathType = "Exact"
	Prefix                 PathType = "Prefix"
	ImplementationSpecific PathType = "ImplementationSpecific"
)

// Action is what a claim wants done with its requests: passing them to a Service.
type Action struct {
	Service snapshot.Name
	Port    string
	// PortField is where the port is written below "service".
	PortField string
	// Fault says why 503 is answered instead, in which field below the action's.
	Fault *Fault
}

// Fault is what is wrong with an action.
type Fault struct {
	Field  string
	Reason model.Reason
	Text   string
}

// Same reports whether two claims want the same done.
func (a *Action) Same(b *Action) bool {
	return a == b || a != nil && b != nil && a.Fault == nil && b.Fault == nil && *a == *b
}

// HostPolicy is what an owner asks for the whole of each of its hosts.
type HostPolicy struct {
	// Aliases are further names of its hosts.
	Aliases []string
	// TLS says which certificates its hosts are presented. TLSField is where it says
	// so.
	TLS      []TLSItem
	TLSField string
	// Delegation are the namespaces that may have paths on its hosts, as written.
	Delegation string
}

// TLSItem assigns a certificate to hosts.
type TLSItem struct {
	Hosts []string
	// Secret holds the certificate; its Name is empty for the default one. Field is
	// where it is named.
	Secret snapshot.Name
	Field  string
}

// Denial is how much of an Ingress answers 503 that is denied whatever it says;
// the zero value is nothing.
type Denial int

const (
	// DenyPaths closes its paths as they are written, where nginx is sure to take
	// them so.
	DenyPaths Denial = iota + 1
	// DenyBeginnings closes all that begins as its paths do, in plain characters,
	// and takes none of the patterns among its aliases.
	DenyBeginnings
)
