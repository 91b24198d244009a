package assemble

import (
	"iter"
	"strings"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// DefaultPort stands for the port of the default backend in its key. It is no valid
// port name: if an Ingress names the same Service, that is another backend, because it
// returns 503 without endpoints and the default backend 404.
const DefaultPort = "_default"

// BackendID identifies a backend.
type BackendID struct {
	// Service is empty except for the namespace if Host is set: then it is that of the
	// owner.
	Service snapshot.Name
	Host    string // a host that is not a Service, empty for none
	Port    string // as written, or DefaultPort
	// variant is a hash of the balancing or of the split; empty for a backend that
	// picks endpoints in turn.
	variant string
}

// key is opaque, except that those of one Service begin with its name and "/", which
// lastCall.firstOf needs, and that the name of a host begins with "_", as no Service name does,
// for the pool of its kept connections.
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

func (id BackendID) target() model.Target {
	port := id.Port
	if port == DefaultPort {
		port = ""
	}
	return model.Target{ServicePort: model.ServicePort{Namespace: id.Service.Namespace, Name: id.Service.Name, Port: port}, Host: id.Host}
}

// Backend is one that requests are passed to. It keeps its pointer while it is in use.
type Backend struct {
	pass  uint64
	place place
	ID    BackendID
	Key   string // of ID
	// Balancing is nil for picking endpoints in turn. A backend with a Split has no
	// endpoints.
	Balancing *model.Balancing
	Split     *model.Split
	// Found is for the caller. It lives as long as the backend is in use.
	Found any
}

// Model returns the backend without endpoints.
func (b *Backend) Model() *model.Backend {
	status := 503
	if b.ID.Port == DefaultPort {
		status = 404
	}
	return &model.Backend{Key: b.Key, Target: b.ID.target(), WhenEmpty: status, Balancing: b.Balancing, Split: b.Split}
}

func (b *Backend) compare(o *Backend) int { return strings.Compare(b.Key, o.Key) }

// Use is a reference to a backend.
type Use struct {
	Backend *Backend
	// Owner is nil if no field names the backend, such as the default backend.
	Owner *claim.Owner
	// Field names the Service, PortField its port.
	Field, PortField string
	// Instead is the consequence of a wrong reference, empty for the usual one.
	Instead string
}

// useOf is the reference of a claim to its Service; c is nil for none.
func useOf(b *Backend, c *claim.Claim) Use {
	if c == nil {
		return Use{Backend: b}
	}
	service := c.Field + c.BackendField() + ".service"
	return Use{Backend: b, Owner: c.Owner, Field: service + ".name", PortField: service + ".port" + c.Action.Service.PortField}
}

// backendOf returns the backend with an ID, a new one at first.
func (t *Assembly) backendOf(id BackendID) *Backend {
	b := t.memo.backends[id]
	if b == nil {
		b = &Backend{ID: id, Key: id.key()}
		t.memo.backends[id] = b
	}
	return b
}

// usedBackends returns the backends that the hosts use, sorted by key, each once.
func (t *Assembly) usedBackends(hosts []*host) []*Backend {
	found := make([]*Backend, 0, len(t.memo.backends))
	for _, h := range hosts {
		for _, u := range h.built.uses {
			if u.Backend.pass != t.memo.pass {
				u.Backend.pass = t.memo.pass
				t.memo.usedBackends++
				found = append(found, u.Backend)
			}
		}
	}
	return t.memo.sortedBackends.next(t.memo.pass, found)
}

// Uses yields the references in fields of owners.
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
