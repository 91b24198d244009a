package assemble

import (
	"iter"
	"strings"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// DefaultPort stands in the key of the default backend for its port. It is no
// valid name of a port: what an Ingress asks of the same Service is another
// backend, as that one answers 503 where the default backend answers 404.
const DefaultPort = "_default"

// BackendID names a backend.
type BackendID struct {
	// Service is that of a port, or has the namespace of who asked for a host.
	Service snapshot.Name
	Host    string // what is no Service, empty for none
	Port    string // as written, or DefaultPort
	// variant is a hash of the balancing of the backend, or of what a split is of;
	// empty for a backend whose endpoints are picked in turn.
	variant string
}

// key is opaque. Those of one Service begin with its name and "/", as onlyEndpoints
// finds them by; no Service has a name that begins with "_".
func (id BackendID) key() string {
	name := id.Service.Name
	if id.Host != "" {
		name = "_" + id.Host
	}
	key := id.Service.Namespace + "/" + name + "/" + id.Port
	if id.variant != "" {
		key += "~" + id.variant
	}
	return key
}

// Target is what the backend stands for.
func (id BackendID) Target() model.Target {
	port := id.Port
	if port == DefaultPort {
		port = ""
	}
	return model.Target{ServicePort: model.ServicePort{Namespace: id.Service.Namespace, Name: id.Service.Name, Port: port}, Host: id.Host}
}

// Backend is a backend that requests are passed to. The same one is the same pointer as
// long as it is in use.
type Backend struct {
	pass  uint64
	place place
	ID    BackendID
	Key   string // of ID
	// Balancing is nil for a backend whose endpoints are picked in turn. A split has no
	// endpoints.
	Balancing *model.Balancing
	Split     *model.Split
}

func (b *Backend) compare(o *Backend) int { return strings.Compare(b.Key, o.Key) }

// Use is a reference to a backend.
type Use struct {
	Backend *Backend
	// Owner is nil for a backend that no field names, such as the default backend.
	Owner *claim.Owner
	// Field names the Service, PortField its port.
	Field, PortField string
}

// useOf is the reference of a claim to its own Service; c is nil for none.
func useOf(b *Backend, c *claim.Claim) Use {
	if c == nil {
		return Use{Backend: b}
	}
	service := c.Field + c.BackendField() + ".service"
	return Use{b, c.Owner, service + ".name", service + ".port" + c.Action.PortField}
}

// backendOf gives the entry of a backend.
func (t *Assembly) backendOf(id BackendID) *Backend {
	b := t.memo.backends[id]
	if b == nil {
		b = &Backend{ID: id, Key: id.key()}
		t.memo.backends[id] = b
	}
	return b
}

// usedBackends are the backends that the hosts use, sorted by key, each once.
func (t *Assembly) usedBackends(hosts []*host) []*Backend {
	found := make([]*Backend, 0, len(t.memo.backends))
	for _, h := range hosts {
		for _, u := range h.built.uses {
			if u.Backend.pass != t.memo.pass {
				u.Backend.pass = t.memo.pass
				t.memo.used.backends++
				found = append(found, u.Backend)
			}
		}
	}
	return t.memo.sortedBackends.next(t.memo.pass, found)
}

// Uses are the references to backends by fields of owners.
func (t *Assembly) Uses() iter.Seq[Use] {
	return func(yield func(Use) bool) {
		for _, h := range t.hosts {
			for _, u := range h.built.uses {
				if u.Owner != nil && !yield(u) {
					return
				}
			}
		}
	}
}
