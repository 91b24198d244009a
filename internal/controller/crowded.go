package controller

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"sluice/internal/assemble"
	"sluice/internal/dynamic"
	"sluice/internal/model"
	"sluice/internal/translate"
)

// leftover is a retired item in nginx's memory.
type leftover struct {
	namespace, key string
	plan           int
	cost           int64
	// needed is set if the configuration that nginx runs may need the item.
	needed bool
	remove func()
}

// mostHalvings limits how often the room for retired items is halved. Costs are estimates,
// and free memory can be in pieces.
const mostHalvings = 3

// makeRoom handles the result of a push. If nginx had no room, it removes retired items that
// only draining workers need: those of each namespace beyond a fair share of the room that
// the wanted items leave. So a namespace that replaces its certificates or backends all the
// time takes no room from others. If that is not enough, wanted items stay out until nginx
// runs a configuration without other retired items; see pushLeftOut.
func (c *Controller) makeRoom(ctx context.Context, pushed error) error {
	for halved := 0; pushed != nil && ctx.Err() == nil && halved <= mostHalvings; halved++ {
		gone := c.crowdedOut(halved)
		if len(gone) == 0 {
			continue
		}
		var namespaces []string
		for _, item := range gone {
			item.remove()
			namespaces = append(namespaces, item.namespace)
		}
		slices.Sort(namespaces)
		c.Log.Warn("nginx's memory is full: endpoints and certificates that only draining workers need were removed", "items", len(gone), "namespaces", model.OneLine(strings.Join(slices.Compact(namespaces), " "), 300))
		held := c.retired.and(c.wanted)
		pushed = c.Runtime.Replace(ctx, c.use(held)(held))
	}
	return pushed
}

// pushLeftOut pushes again if nginx had no room for everything. It is called when nginx has
// begun to run a configuration without some retired items, so that makeRoom can remove them.
func (c *Controller) pushLeftOut(ctx context.Context) {
	if backends, certificates := c.Runtime.Full(); backends || certificates {
		c.latest.pushed += c.push(ctx)
		c.tell(c.latest)
	}
}

// crowdedOut returns the retired items that have to go from the dictionaries that are full.
func (c *Controller) crowdedOut(halved int) (gone []leftover) {
	backends, certificates := c.Runtime.Full()
	memory := c.Runtime.Memory()
	if backends {
		gone = excess(c.retiredBackends(), leftRoom(memory.Backends, costOf(c.wanted.Backends, translate.BackendCost))>>halved)
	}
	if certificates {
		used := costOf(c.wanted.Certificates, c.certificateCost) + costOf(c.wanted.Names, costOfName)
		gone = append(gone, excess(c.retiredCertificates(), leftRoom(memory.Certificates, used)>>halved)...)
	}
	return gone
}

// leftRoom is the part of a dictionary for retired items. A twentieth stays free, because
// nginx divides its memory into pages.
func leftRoom(d dynamic.Dictionary, used int64) int64 { return max(d.Size/20*19-used, 0) }

func costOf[T any](items []T, cost func(T) int64) (sum int64) {
	for _, item := range items {
		sum += cost(item)
	}
	return sum
}

func (c *Controller) certificateCost(of *model.Certificate) int64 {
	return assemble.CertificateCost(of, c.wanted.Stapling)
}

func costOfName(n model.CertificateName) int64 { return assemble.NameCost(n.Host) }

func (c *Controller) retiredBackends() []leftover {
	return leftovers(c.retired.backends, translate.BackendCost, func(b *model.Backend) string { return b.Target.Namespace })
}

// retiredCertificates also has the retired names, with the namespaces of their certificates.
func (c *Controller) retiredCertificates() []leftover {
	namespaces := map[string]string{}
	of := func(cert *model.Certificate) string { return cert.Namespace }
	items := slices.Concat(leftovers(c.retired.certificates, c.certificateCost, of), leftovers(c.retired.presented, c.certificateCost, of))
	for _, cert := range c.retired.and(c.wanted).Certificates {
		namespaces[cert.ID] = cert.Namespace
	}
	return append(items, leftovers(c.retired.names, costOfName, func(n model.CertificateName) string { return namespaces[n.ID] })...)
}

func leftovers[T any](items retiredItems[T], cost func(T) int64, namespace func(T) string) []leftover {
	var all []leftover
	for key, item := range items {
		all = append(all, leftover{namespace: namespace(item.element), key: key, plan: item.plan, cost: cost(item.element), needed: item.since.IsZero(), remove: func() { delete(items, key) }})
	}
	return all
}

// excess returns the items beyond the share of their namespace, the oldest of each first.
// Needed items count towards the share, but stay.
func excess(items []leftover, room int64) (gone []leftover) {
	slices.SortFunc(items, func(a, b leftover) int { return cmp.Or(cmp.Compare(a.plan, b.plan), strings.Compare(a.key, b.key)) })
	used := map[string]int64{}
	for _, item := range items {
		used[item.namespace] += item.cost
	}
	share := assemble.FairShare(slices.Collect(maps.Values(used)), room)
	for _, item := range items {
		if !item.needed && used[item.namespace] > share {
			used[item.namespace] -= item.cost
			gone = append(gone, item)
		}
	}
	return gone
}
