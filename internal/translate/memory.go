package translate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/model"
)

// sharedDicts is the setting that says how much nginx can hold.
const sharedDicts = "lua-shared-dicts"

// sizeMemory finds out how much nginx can hold: what it was started with, else
// what the settings say.
func (t *translation) sizeMemory() {
	wanted, name := t.settings.Memory.Sizes(), t.options.ConfigMap
	t.memory = cmp.Or(t.options.Memory, wanted)
	if t.memory != wanted && t.snap.ConfigMap(name) != nil {
		t.report(model.Problem{Object: model.ObjectRef{Kind: "ConfigMap", Namespace: name.Namespace, Name: name.Name}, Field: sharedDicts, Reason: model.Unsupported,
			Text: fmt.Sprintf("nginx was started with certificate_data: %d and configuration_data: %d bytes, and keeps them: start Sluice again to change them", t.memory.Certificates, t.memory.Backends)})
	}
}

// room is how much of a dictionary is given out. The rest is for what replaces
// something that workers still need.
func room(size int64) int64 { return size / 10 * 9 }

// entryCost is how many bytes of a dictionary an entry takes. nginx gives out
// powers of two up to half a page, and then whole pages.
// Source: ngx_slab_alloc_locked in https://github.com/nginx/nginx/blob/master/src/core/ngx_slab.c
func entryCost(key, value int) int64 {
	const head, page = 68, 4096
	size := int64(head + key + value)
	if size > page/2 {
		return (size + page - 1) / page * page
	}
	cost := int64(128)
	for cost < size {
		cost *= 2
	}
	return cost
}

// certificateCost is for the entry of a certificate (see certificate in
// rootfs/etc/nginx/lua/sluice/wire.lua).
func certificateCost(c *model.Certificate) int64 {
	return entryCost(len("c:")+len(c.ID), len(c.Chain)+1+len(c.Key))
}

// nameCost is for the entry of a server name.
func nameCost(host string) int64 { return entryCost(len("n:")+len(host), 64) }

// fairShare is the most that one of several may use of the room, so that who
// uses less gets all of it and the others equal parts of what is left; without
// limit if there is room for all.
func fairShare(uses []int64, room int64) int64 {
	uses = slices.Sorted(slices.Values(uses))
	for i, used := range uses {
		share := max(room, 0) / int64(len(uses)-i)
		if used > share {
			return share
		}
		room -= used
	}
	return math.MaxInt64
}

// wish is a host that is to be presented a certificate.
type wish struct {
	host *host
	cost int64
}

// roomless gives the hosts for whose certificates there is no room, nil if there
// is room for all. Each namespace has a fair share, which its oldest Ingresses
// use first: nobody's certificates keep out those of another namespace that has
// fewer. Their owners are told.
func (t *translation) roomless(hosts []*host, standard *model.Certificate) map[*host]bool {
	room := room(t.memory.Certificates) - nameCost("")
	if standard != nil {
		room -= certificateCost(standard)
	}
	total := int64(0)
	for _, h := range hosts {
		if h.certificate.by != nil {
			room -= nameCost(h.name)
		}
		if pair := h.certificate.pair; pair != nil {
			for _, alias := range h.coveredAliases() {
				room -= nameCost(alias)
			}
			total += certificateCost(pair.certificate)
		}
	}
	if total <= room || distinctCost(hosts) <= room {
		return nil
	}
	return t.pickByAge(t.wishes(hosts), room)
}

// distinctCost is what the certificates of hosts take together, each once.
func distinctCost(hosts []*host) int64 {
	total, seen := int64(0), map[string]bool{}
	for _, h := range hosts {
		if pair := h.certificate.pair; pair != nil && !seen[pair.certificate.ID] {
			seen[pair.certificate.ID] = true
			total += certificateCost(pair.certificate)
		}
	}
	return total
}

// wishes gives what each namespace wants, of the oldest Ingress first. A
// certificate of several hosts counts once.
func (t *translation) wishes(hosts []*host) map[string][]wish {
	wishes := map[string][]wish{}
	for _, h := range hosts {
		if a := h.certificate; a.pair != nil {
			namespace := a.by.ref.Namespace
			wishes[namespace] = append(wishes[namespace], wish{host: h})
		}
	}
	for _, own := range wishes {
		slices.SortStableFunc(own, func(a, b wish) int { return a.host.certificate.by.age.compare(b.host.certificate.by.age) })
		seen := map[string]bool{}
		for i := range own {
			if c := own[i].host.certificate.pair.certificate; !seen[c.ID] {
				seen[c.ID] = true
				own[i].cost = certificateCost(c)
			}
		}
	}
	return wishes
}

// pickByAge gives the hosts that are left out.
func (t *translation) pickByAge(wishes map[string][]wish, room int64) map[*host]bool {
	used := map[string]int64{}
	var uses []int64
	for namespace, own := range wishes {
		for _, w := range own {
			used[namespace] += w.cost
		}
		uses = append(uses, used[namespace])
	}
	share, out := fairShare(uses, room), map[*host]bool{}
	for namespace, own := range wishes {
		left, without := share, map[string]bool{}
		for _, w := range own {
			a := w.host.certificate
			if w.cost > left || without[a.pair.certificate.ID] {
				left, without[a.pair.certificate.ID], out[w.host] = 0, true, true
				t.report(a.by.noRoom(a.item, used[namespace], share))
				continue
			}
			left -= w.cost
		}
	}
	return out
}

// noRoom is what the owner of a tls item is told.
func (i *owner) noRoom(item int, used, share int64) model.Problem {
	return model.Problem{Object: i.ref, Field: i.tls[item].field, Reason: model.NoRoom,
		Text: fmt.Sprintf("no room for its certificate: the default certificate is presented; the certificates of namespace %s take %d bytes, and there is room for %d: use fewer or shorter chains, or have certificate_data of the setting %s raised",
			i.ref.Namespace, used, share, sharedDicts)}
}

// mostEndpoints is the most endpoints that one backend has: nginx reads all of
// them whenever one changes.
const mostEndpoints = 10_000

// limit keeps a backend from having more endpoints than nginx reads in a moment,
// and notes what it takes.
func (b *backend) limit() {
	defer func() { b.cost = backendCost(b.model, len(b.model.Endpoints)) }()
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
	return entryCost(len(b.Key), size+balancingSize(b))
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
	if total <= room(t.memory.Backends) {
		return fitted
	}
	used, own := map[string]int64{}, map[string][]int64{}
	for _, b := range backends {
		namespace := b.id.service.Namespace
		used[namespace] += b.cost
		own[namespace] = append(own[namespace], b.cost)
	}
	share := fairShare(slices.Collect(maps.Values(used)), room(t.memory.Backends))
	most := map[string]int64{}
	for namespace, costs := range own {
		most[namespace] = fairShare(costs, share)
	}
	for i, b := range backends {
		if most := most[b.id.service.Namespace]; b.cost > most {
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
	t.report(endpointsLeftOut(b, kept, fmt.Sprintf("those of namespace %s take more room than there is for it: have configuration_data of the setting %s raised", b.Target.Namespace, sharedDicts)))
	short := *b
	short.Endpoints = b.Endpoints[:kept:kept]
	return &short
}
