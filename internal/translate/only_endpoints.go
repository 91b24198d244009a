package translate

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"sluice/internal/assemble"
	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// lastCall is a call of Config with what it gave.
type lastCall struct {
	objects  []*claim.Object
	snap     *snapshot.Snapshot // nil if the next call has to look at everything
	denied   map[model.ObjectRef]claim.Denial
	config   model.Config
	problems []model.Problem
	// backends are those of config, cost what nginx needs to hold them and room how
	// much it can hold.
	backends   []*backend
	cost, room int64
	// reads are the Services that decided about more than the backends.
	reads reads
}

// service gives a Service with its EndpointSlices for something else than a backend:
// Config has to look at everything where one of these changes. Only look may take
// them from the snapshot.
func (t *translation) service(name snapshot.Name) (*corev1.Service, []*discoveryv1.EndpointSlice) {
	return t.reads.service(t.snap, name), t.snap.EndpointSlices(name)
}

// keep remembers a call.
func (m *Memo) keep(t *translation, objects []*claim.Object, config model.Config, problems []model.Problem) {
	cost := int64(0)
	for _, b := range t.used {
		cost += b.cost
	}
	m.last = lastCall{objects, t.snap, t.options.Denied, config, problems, t.used, cost, assemble.Room(t.memory.Backends), t.reads}
}

// onlyEndpoints is Config where only Services and their endpoints changed since the
// last call, and neither gives a Problem: all else is as it was, whatever it costs
// to find that out again. ok is false where Config has to look at everything.
func (m *Memo) onlyEndpoints(s *snapshot.Snapshot, o Options, objects []*claim.Object) (config model.Config, problems []model.Problem, ok bool) {
	last := &m.last
	general := o
	general.Denied = nil
	if last.snap == nil || !slices.Equal(last.objects, objects) || !maps.Equal(last.denied, o.Denied) || !reflect.DeepEqual(m.options, general) {
		return config, nil, false
	}
	services, only := s.OnlyServices(last.snap)
	if !only || last.cost > last.room || slices.ContainsFunc(services, last.read) {
		return config, nil, false
	}
	t := &translation{snap: s, options: o, memo: m}
	backends, cost := slices.Clone(last.config.Dynamic.Backends), last.cost
	for _, service := range services {
		for i := last.firstOf(service); i < len(backends) && last.backends[i].ID.Service == service; i++ {
			b := last.backends[i]
			cost -= b.cost
			said := b.says()
			t.look(b)
			if said || b.says() {
				last.snap = nil
				return config, nil, false
			}
			cost += b.cost
			backends[i] = b.model
		}
	}
	if cost > last.room {
		last.snap = nil
		return config, nil, false
	}
	last.snap, last.cost, last.config.Dynamic.Backends = s, cost, backends
	return last.config, last.problems, true
}

// read says whether a Service decided about more than the backends.
func (l *lastCall) read(service snapshot.Name) bool { return l.reads.has(refTo(kindService, service)) }

// firstOf is where the backends of a Service begin.
func (l *lastCall) firstOf(service snapshot.Name) int {
	at, _ := slices.BinarySearchFunc(l.backends, service.String()+"/", func(b *backend, key string) int { return strings.Compare(b.model.Key, key) })
	return at
}

// says reports whether there is something to be said about a backend.
func (b *backend) says() bool { return b.fault != nil || len(b.remarks) > 0 }
