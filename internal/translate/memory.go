package translate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/assemble"
	"sluice/internal/model"
)

// sizeMemory sets the room in nginx: the sizes that nginx was started with, else those
// of the settings.
func (t *translation) sizeMemory() {
	wanted, name := t.settings.Memory.Sizes(), t.options.ConfigMap
	t.memory = cmp.Or(t.options.Memory, wanted)
	if t.memory != wanted && t.snap.ConfigMap(name) != nil {
		t.report(model.Problem{Object: refTo(kindConfigMap, name), Field: assemble.SharedDicts, Reason: model.Unsupported,
			Text: fmt.Sprintf("nginx runs with certificate_data: %d and configuration_data: %d bytes: restart Sluice to change them", t.memory.Certificates, t.memory.Backends)})
	}
}

// mostEndpoints is the maximum number of endpoints of a backend, because nginx reads
// all of them when one changes.
const mostEndpoints = 10_000

// limit cuts the endpoints of a backend to mostEndpoints, and sets its cost.
func (b *backend) limit() {
	defer func() { b.cost = backendCost(b.model, len(b.model.Endpoints)) }()
	b.model.RingPoints = b.ringPoints
	if len(b.model.Endpoints) > mostEndpoints {
		b.remarks = append(b.remarks, endpointsLeftOut(b.model, mostEndpoints, "Sluice uses no more of one Service"))
		b.model.Endpoints = b.model.Endpoints[:mostEndpoints:mostEndpoints]
	}
}

// endpointsLeftOut is the Problem for the owner of a Service.
func endpointsLeftOut(b *model.Backend, kept int, why string) model.Problem {
	return model.Problem{Object: b.Target.Object(), Reason: model.NoRoom,
		Text: fmt.Sprintf("%d of its %d endpoints get requests: %s", kept, len(b.Endpoints), why)}
}

// resolvedEndpoints is the number of addresses of a DNS name for which there is room.
const resolvedEndpoints = 64

// BackendCost is the size of a backend's entry in nginx's memory.
func BackendCost(b *model.Backend) int64 { return backendCost(b, len(b.Endpoints)) }

// backendCost is the size of a backend's entry with so many of its endpoints (see
// backend in rootfs/etc/nginx/lua/sluice/wire.lua).
func backendCost(b *model.Backend, endpoints int) int64 {
	size := len("[503]")
	if b.ExternalName != "" {
		size += resolvedEndpoints * endpointSize(model.Endpoint{Address: "255.255.255.255", Port: b.ExternalPort})
	}
	for _, e := range b.Endpoints[:endpoints] {
		size += endpointSize(e)
	}
	return assemble.EntryCost(len(b.Key), size+balancingSize(b))
}

// balancingSize is an upper bound for the size of a picker or split.
func balancingSize(b *model.Backend) int {
	if b.Balancing == nil && b.Split == nil {
		return 0
	}
	text, _ := json.Marshal([]any{b.Balancing, b.Split})
	return 256 + 2*len(text)
}

func endpointSize(e model.Endpoint) int {
	size := len(`,["",]`) + len(e.Address) + len(strconv.Itoa(e.Port))
	if strings.Contains(e.Address, ":") {
		size += len("[]")
	}
	return size
}

// fitBackends returns the backends that fit, with as many endpoints as fit. Each namespace
// has a fair share and, within it, each of its backends; its splits have the rest. Without
// a split, a path has its main backend (see without_room in
// rootfs/etc/nginx/lua/sluice/balancer.lua).
func (t *translation) fitBackends(of *assemble.Assembly, backends []*backend) []*model.Backend {
	total := int64(0)
	fitted := make([]*model.Backend, len(backends))
	for i, b := range backends {
		total += b.cost
		fitted[i] = b.model
	}
	if total <= assemble.Room(t.memory.Backends) {
		return fitted
	}
	used, own := map[string]int64{}, map[string][]int64{}
	for _, b := range backends {
		namespace := b.ID.Service.Namespace
		used[namespace] += b.cost
		if b.Split == nil {
			own[namespace] = append(own[namespace], b.cost)
		}
	}
	share := assemble.FairShare(slices.Collect(maps.Values(used)), assemble.Room(t.memory.Backends))
	left, most := map[string]int64{}, map[string]int64{}
	for namespace := range used {
		left[namespace], most[namespace] = share, assemble.FairShare(own[namespace], share)
	}
	for i, b := range backends {
		namespace := b.ID.Service.Namespace
		if b.Split != nil {
			continue
		}
		if b.cost > most[namespace] {
			fitted[i] = t.shorten(b.model, most[namespace])
		}
		if short := fitted[i]; short != nil {
			left[namespace] -= backendCost(short, len(short.Endpoints))
		}
	}
	t.fitSplits(of, fitted, left)
	return slices.DeleteFunc(fitted, func(b *model.Backend) bool { return b == nil })
}

// fitSplits takes the splits away for which a namespace has no room left, and reports them.
func (t *translation) fitSplits(of *assemble.Assembly, fitted []*model.Backend, left map[string]int64) {
	without := map[*assemble.Backend]bool{}
	for i, b := range t.used {
		if b.Split == nil {
			continue
		}
		if namespace := b.ID.Service.Namespace; b.cost > left[namespace] {
			fitted[i], without[b.Backend] = nil, true
		} else {
			left[namespace] -= b.cost
		}
	}
	for u := range of.Uses() {
		if without[u.Backend] {
			t.report(model.Problem{Object: u.Owner.Ref, Field: u.Field, Reason: model.NoRoom, Text: "the path has neither a cookie nor a canary: " + lacksRoom(u.Backend.ID.Service.Namespace)})
		}
	}
}

// lacksRoom tells that a namespace has too many or too large backends.
func lacksRoom(namespace string) string {
	return fmt.Sprintf("the backends of namespace %s need more room than it has; ask the administrator to raise configuration_data in the setting %s", namespace, assemble.SharedDicts)
}

// shorten returns a backend with as many endpoints as fit, nil if it does not fit without
// any. nginx then returns 503.
func (t *translation) shorten(b *model.Backend, room int64) *model.Backend {
	kept := len(b.Endpoints)
	for kept > 0 && backendCost(b, kept) > room {
		kept = kept * 15 / 16
	}
	p := endpointsLeftOut(b, kept, lacksRoom(b.Target.Namespace))
	t.report(p)
	if backendCost(b, kept) > room {
		return nil
	}
	short := *b
	short.Shortened = true
	if short.Endpoints = b.Endpoints[:kept:kept]; kept == 0 {
		short.NoEndpoints = p.Text
	}
	return &short
}
