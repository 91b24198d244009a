package translate

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"sluice/internal/assemble"
	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// lastCall is a call of Config with its result.
type lastCall struct {
	objects  []*claim.Object
	snap     *snapshot.Snapshot // nil if the next call has to compute everything
	denied   map[model.ObjectRef]claim.Denial
	config   model.Config
	problems []model.Problem
	// backends are those of config, cost is their size in nginx, and room the available
	// size.
	backends   []*backend
	cost, room int64
	// reads are the Services that affect more than the backends.
	reads reads
}

// service returns a Service and its EndpointSlices for another use than a backend: if
// they change, Config has to compute everything again. Only look reads them from the
// snapshot directly.
func (t *translation) service(name snapshot.Name) (*corev1.Service, []*discoveryv1.EndpointSlice) {
	return t.reads.service(t.snap, name), t.snap.EndpointSlices(name)
}

func (m *Memo) keep(t *translation, objects []*claim.Object, config model.Config, problems []model.Problem) {
	cost := int64(0)
	for _, b := range t.used {
		cost += b.cost
	}
	m.last = lastCall{objects, t.snap, t.options.Denied, config, problems, t.used, cost, assemble.Room(t.memory.Backends), t.reads}
}

// onlyEndpoints is Config if only Services and their endpoints changed since the last
// call, and neither call has a Problem with them: everything else stays as it was. ok
// is false if Config has to compute everything again.
func (m *Memo) onlyEndpoints(s *snapshot.Snapshot, o Options, objects []*claim.Object) (config model.Config, problems []model.Problem, ok bool) {
	last := &m.last
	if last.snap == nil || !slices.Equal(last.objects, objects) || !maps.Equal(last.denied, o.Denied) || !m.isFor(o) {
		return config, nil, false
	}
	services, only := s.OnlyServices(last.snap)
	if !only || last.cost > last.room || slices.ContainsFunc(services, last.read) {
		return config, nil, false
	}
	t := &translation{snap: s, options: o, settings: m.settings, memo: m}
	backends, cost := slices.Clone(last.config.Dynamic.Backends), last.cost
	for _, service := range services {
		for i := last.firstOf(service); i < len(backends) && last.backends[i].ID.Service == service; i++ {
			b := last.backends[i]
			cost -= b.cost
			hadProblem := b.hasProblem()
			t.look(b)
			if hadProblem || b.hasProblem() {
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

// read reports whether a Service affected more than the backends.
func (l *lastCall) read(service snapshot.Name) bool { return l.reads.has(refTo(kindService, service)) }

// firstOf is the index of the first backend of a Service.
func (l *lastCall) firstOf(service snapshot.Name) int {
	at, _ := slices.BinarySearchFunc(l.backends, service.String()+"/", func(b *backend, key string) int { return strings.Compare(b.model.Key, key) })
	return at
}

// hasProblem reports whether a backend has a Problem.
func (b *backend) hasProblem() bool { return b.fault != nil || len(b.remarks) > 0 }
