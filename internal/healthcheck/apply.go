package healthcheck

import (
	"cmp"
	"slices"
	"strings"

	"sluice/internal/model"
)

// Apply returns d without the failing endpoints of its backends. If all endpoints of a
// backend fail, it keeps all: more likely the check is wrong than every endpoint, and a
// request that one of them may answer is better than none. d itself does not change.
func (t *Table) Apply(d model.Dynamic) model.Dynamic {
	if t.failing == 0 {
		return d
	}
	applied, copied := d, false
	for i, b := range d.Backends {
		left := t.without(b)
		if left == b {
			continue
		}
		if !copied {
			applied.Backends, copied = slices.Clone(d.Backends), true
		}
		applied.Backends[i] = left
	}
	return applied
}

// states returns a function that returns the entry of the endpoint at an index, nil if it is
// not in use.
func (t *Table) states(b *model.Backend, check model.Check) func(i int) *entry {
	if u := t.uses[b.Key]; u != nil && u.backend == b {
		return func(i int) *entry { return u.places[i].entry }
	}
	return func(i int) *entry { return t.entries[Target{check, b.Endpoints[i]}] }
}

// without returns a backend without its failing endpoints, the same one if none fails.
func (t *Table) without(b *model.Backend) *model.Backend {
	check := checkOf(b)
	if check == nil {
		return b
	}
	var failing []model.Failing
	state := t.states(b, *check)
	for i, endpoint := range b.Endpoints {
		if e := state(i); e != nil && e.failing {
			failing = append(failing, model.Failing{Endpoint: endpoint, Reason: e.reason})
		}
	}
	if len(failing) == 0 {
		return b
	}
	left := *b
	left.Failing = failing
	if len(failing) < len(b.Endpoints) {
		left.Endpoints = make([]model.Endpoint, 0, len(b.Endpoints)-len(failing))
		for i, endpoint := range b.Endpoints {
			if e := state(i); e == nil || !e.failing {
				left.Endpoints = append(left.Endpoints, endpoint)
			}
		}
	}
	return &left
}

// Trouble is a check that all endpoints of a backend fail.
type Trouble struct {
	// Of is the object whose owner decides about the endpoints.
	Of   model.ObjectRef
	Path string
}

// Troubles returns the checks that all endpoints of a backend of d fail, sorted, each once.
func (t *Table) Troubles(d model.Dynamic) []Trouble {
	if t.failing == 0 {
		return nil
	}
	var troubles []Trouble
	for _, b := range d.Backends {
		if check := checkOf(b); check != nil && t.allFail(b, *check) {
			troubles = append(troubles, Trouble{b.Target.Object(), check.Path})
		}
	}
	slices.SortFunc(troubles, func(a, b Trouble) int { return cmp.Or(a.Of.Compare(b.Of), strings.Compare(a.Path, b.Path)) })
	return slices.Compact(troubles)
}

func (t *Table) allFail(b *model.Backend, check model.Check) bool {
	state := t.states(b, check)
	for i := range b.Endpoints {
		if e := state(i); e == nil || !e.failing {
			return false
		}
	}
	return len(b.Endpoints) > 0
}
