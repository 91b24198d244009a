package translate

import (
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/annotations"
	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
)

// owner is an object that makes claims, as its source read it. It does not change.
type owner struct {
	pass uint64
	// object is what its source reads it from; nothing else looks at it.
	object *networkingv1.Ingress
	ref    model.ObjectRef
	age    age
	hostPolicy
	// settings are those of its class.
	settings *settings.Settings
	// annotations are those that hold for its paths that have none of their own.
	annotations *annotations.Annotations
	// denied: every path answers 503, whatever its annotations say.
	denied bool
	// denial is set if it is denied whatever it says: by Options.Denied, or with its
	// class.
	denial Denial

	// passes: it asks for the TLS of its hosts to be passed on.
	passes bool
	// attached is what its annotations get from other objects, reads are these.
	attached  []*attached
	reads     reads
	hosts     []*hostRules
	fallback  *claim // spec.defaultBackend
	ruleless  bool   // it has no rules, so that its fallback is everybody's
	problems  []model.Problem
	prefixKey string // prefix of its annotations, with the slash
	// zoneless is the same Ingress with all paths closed, once there was no room for
	// the zones of its limits.
	zoneless *owner
}

// defaultBackendField is the field of what takes the requests that no rule does.
const defaultBackendField = "spec.defaultBackend"

// hostRules are the claims of one owner for one host. Field is where it has the host,
// empty where it has it without a rule.
type hostRules struct {
	owner  *owner
	host   string
	field  string
	claims []claim
	entry  *host
	// anyLabels is set if the "*" of the host stands for any number of labels.
	anyLabels bool
}

// claim is one path that an owner asks for, ready to be placed.
type claim struct {
	owner *owner
	// annotations are those that hold for the path.
	annotations *annotations.Annotations
	// field is the path of the field, such as "spec.rules[0].http.paths[2]".
	field string
	// path is as written, "/" where none is.
	path     string
	pathType pathType
	// match says which requests of the path are meant, nil for all.
	match *model.Match
	// action is nil for passing to the default backend.
	action *action
	// broken: it cannot be served on any host, as a Problem says. closed: all that it
	// could take answers 503.
	broken, closed bool
}

// pathType says how a claim's path is compared, in Kubernetes' own words.
type pathType string

const (
	pathExact    pathType = "Exact"
	pathPrefix   pathType = "Prefix"
	pathSpecific pathType = "ImplementationSpecific"
)

// action is what a claim wants done with its requests: passing them to a Service.
type action struct {
	service snapshot.Name
	port    string
	// portField is where the port is written below "service".
	portField string
	// fault says why 503 is answered instead, in which field below the action's.
	fault *actionFault
}

type actionFault struct {
	field  string
	reason model.Reason
	text   string
}

// same reports whether two claims want the same done.
func (a *action) same(b *action) bool {
	return a == b || a != nil && b != nil && a.fault == nil && b.fault == nil && *a == *b
}

// hostPolicy is what an owner asks for the whole of each of its hosts.
type hostPolicy struct {
	// aliases are further names of its hosts.
	aliases []string
	// tls says which certificates its hosts are presented. tlsField is where it says
	// so.
	tls      []tlsItem
	tlsField string
	// delegation are the namespaces that may have paths on its hosts, as written.
	delegation string
}

// tlsItem assigns a certificate to hosts.
type tlsItem struct {
	hosts []string
	// secret holds the certificate; its Name is empty for the default one. Field is
	// where it is named.
	secret snapshot.Name
	field  string
}
