package healthcheck

import (
	"slices"

	"sluice/internal/model"
)

// Apply returns d without the failing endpoints of its backends. If all endpoints of a
// backend fail, it keeps all: more likely the check is wrong than every endpoint, and a
// request that one of them may answer is better than none. d itself does not change.
func (t *Table) Apply(d model.Dynamic) model.Dynamic {
	if len(t.entries) == 0 {
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

// without returns a backend without its failing endpoints, the same one if none fails.
func (t *Table) without(b *model.Backend) *model.Backend {
	check := checkOf(b)
	if check == nil {
		return b
	}
	var healthy []model.Endpoint
	var failing []model.Failing
	for _, endpoint := range b.Endpoints {
		e := t.entries[Target{*check, endpoint}]
		if e == nil || !e.failing {
			healthy = append(healthy, endpoint)
			continue
		}
		failing = append(failing, model.Failing{Endpoint: endpoint, Reason: e.reason})
	}
	if len(failing) == 0 {
		return b
	}
	left := *b
	left.Failing = failing
	if len(healthy) > 0 {
		left.Endpoints = healthy
	}
	return &left
}
