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

// sizeMemory finds out how much nginx can hold: what it was started with, else
// what the settings say.
func (t *translation) sizeMemory() {
	wanted, name := t.settings.Memory.Sizes(), t.options.ConfigMap
	t.memory = cmp.Or(t.options.Memory, wanted)
	if t.memory != wanted && t.snap.ConfigMap(name) != nil {
		t.report(model.Problem{Object: model.ObjectRef{Kind: "ConfigMap", Namespace: name.Namespace, Name: name.Name}, Field: assemble.SharedDicts, Reason: model.Unsupported,
			Text: fmt.Sprintf("nginx was started with certificate_data: %d and configuration_data: %d bytes, and keeps them: start Sluice again to change them", t.memory.Certificates, t.memory.Backends)})
	}
}

// mostEndpoints is the most endpoints that one backend has: nginx reads all of
// them whenever one changes.
const mostEndpoints = 10_000

// limit keeps a backend from having more endpoints than nginx reads in a moment,
// and notes what it takes.
func (b *backend) limit() {
	defer func() { b.cost = backendCost(b.model, len(b.model.Endpoints)) }()
	b.model.RingPoints = b.ringPoints
	if len(b.model.Endpoints) > mostEndpoints {
		b.remarks = append(b.remarks, endpointsLeftOut(b.model, mostEndpoints, "no more are used of one Service"))
		b.model.Endpoints = b.model.Endpoints[:mostEndpoints:mostEndpoints]
	}
}

// endpointsLeftOut is what the owner of a Service is told.
func endpointsLeftOut(b *model.Backend, kept int, why string) model.Problem {
	return model.Problem{Object: b.Target.Object(), Reason: model.NoRoom,
		Text: fmt.Sprintf("%d of its %d endpoints get requests: %s", kept, len(b.Endpoints), why)}
}

// resolvedEndpoints is for how many addresses of a DNS name there is room.
const resolvedEndpoints = 64

// backendCost is for the entry of a backend with so many of its endpoints (see
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

// balancingSize is more than what is said of a picker or of a split takes.
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

// fitBackends gives the backends with as many of their endpoints as there is room
// for. Each namespace has a fair share, and within it each of its backends: those
// with most endpoints go on with some of them, and their owners are told.
func (t *translation) fitBackends(backends []*backend) []*model.Backend {
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
		own[namespace] = append(own[namespace], b.cost)
	}
	share := assemble.FairShare(slices.Collect(maps.Values(used)), assemble.Room(t.memory.Backends))
	most := map[string]int64{}
	for namespace, costs := range own {
		most[namespace] = assemble.FairShare(costs, share)
	}
	for i, b := range backends {
		if most := most[b.ID.Service.Namespace]; b.cost > most {
			fitted[i] = t.shorten(b.model, most)
		}
	}
	return fitted
}

// shorten gives a backend with as many of its endpoints as there is room for.
func (t *translation) shorten(b *model.Backend, room int64) *model.Backend {
	kept := len(b.Endpoints)
	for kept > 0 && backendCost(b, kept) > room {
		kept = kept * 15 / 16
	}
	t.report(endpointsLeftOut(b, kept, fmt.Sprintf("those of namespace %s take more room than there is for it: have configuration_data of the setting %s raised", b.Target.Namespace, assemble.SharedDicts)))
	short := *b
	short.Endpoints = b.Endpoints[:kept:kept]
	return &short
}
