package assemble

import (
	"fmt"
	"slices"

	"sluice/internal/claim"
	"sluice/internal/model"
)

// CertificateCost is the size of a certificate's entry (see certificate in
// rootfs/etc/nginx/lua/sluice/wire.lua), with one for its OCSP response if stapling is set.
func CertificateCost(c *model.Certificate, stapling bool) int64 {
	cost := EntryCost(len("c:")+len(c.ID), len(c.Chain)+1+len(c.Key))
	if stapling && c.Responder != "" {
		cost += EntryCost(len("o:")+len(c.ID), model.LongestStaple)
	}
	return cost
}

func (t *Assembly) certificateCost(c *model.Certificate) int64 {
	return CertificateCost(c, t.Settings.TLS.OCSP)
}

// NameCost is the size of a server name's entry.
func NameCost(host string) int64 { return EntryCost(len("n:")+len(host), 64) }

// wish is a host with a certificate, and the cost of that.
type wish struct {
	host *host
	cost int64
}

// roomless returns the hosts whose certificates do not fit, nil if all fit, and reports
// them. Each namespace has a fair share, so that none displaces the certificates of one
// with fewer. The oldest owners of a namespace come first.
func (t *Assembly) roomless(hosts []*host, standard *model.Certificate) map[*host]bool {
	room := Room(t.Options.Memory.Certificates) - NameCost("")
	if standard != nil {
		room -= t.certificateCost(standard)
	}
	seen := map[string]bool{}
	for _, presented := range t.Presented {
		if !seen[presented.ID] {
			seen[presented.ID] = true
			room -= CertificateCost(presented, false)
		}
	}
	total := int64(0)
	for _, h := range hosts {
		if h.certificate.by != nil {
			room -= NameCost(h.name)
		}
		if pair := h.certificate.pair; pair != nil {
			for _, alias := range h.coveredAliases() {
				room -= NameCost(alias)
			}
			total += t.certificateCost(pair.Certificate)
		}
	}
	if total <= room || t.distinctCost(hosts) <= room {
		return nil
	}
	return t.pickByAge(t.wishes(hosts), room)
}

// distinctCost is the size of the certificates of all hosts, each counted once.
func (t *Assembly) distinctCost(hosts []*host) int64 {
	total, seen := int64(0), map[string]bool{}
	for _, h := range hosts {
		if pair := h.certificate.pair; pair != nil && !seen[pair.Certificate.ID] {
			seen[pair.Certificate.ID] = true
			total += t.certificateCost(pair.Certificate)
		}
	}
	return total
}

// wishes returns the hosts with certificates by namespace, those of the oldest owners
// first. A certificate of several hosts counts once.
func (t *Assembly) wishes(hosts []*host) map[string][]wish {
	wishes := map[string][]wish{}
	for _, h := range hosts {
		if a := h.certificate; a.pair != nil {
			namespace := a.by.Ref.Namespace
			wishes[namespace] = append(wishes[namespace], wish{host: h})
		}
	}
	for _, own := range wishes {
		slices.SortStableFunc(own, func(a, b wish) int { return a.host.certificate.by.Age.Compare(b.host.certificate.by.Age) })
		seen := map[string]bool{}
		for i := range own {
			if c := own[i].host.certificate.pair.Certificate; !seen[c.ID] {
				seen[c.ID] = true
				own[i].cost = t.certificateCost(c)
			}
		}
	}
	return wishes
}

// pickByAge returns the hosts beyond the share of their namespace.
func (t *Assembly) pickByAge(wishes map[string][]wish, room int64) map[*host]bool {
	used := map[string]int64{}
	var uses []int64
	for namespace, own := range wishes {
		for _, w := range own {
			used[namespace] += w.cost
		}
		uses = append(uses, used[namespace])
	}
	share, out := FairShare(uses, room), map[*host]bool{}
	for namespace, own := range wishes {
		left, without := share, map[string]bool{}
		for _, w := range own {
			a := w.host.certificate
			if w.cost > left || without[a.pair.Certificate.ID] {
				left, without[a.pair.Certificate.ID], out[w.host] = 0, true, true
				t.report(noRoom(a.by, a.item, used[namespace], share))
				continue
			}
			left -= w.cost
		}
	}
	return out
}

func noRoom(owner *claim.Owner, item int, used, share int64) model.Problem {
	return model.Problem{Object: owner.Ref, Field: owner.TLS.Items[item].Field, Reason: model.NoRoom,
		Text: fmt.Sprintf("there is no room for its certificate, so nginx presents the default one: the certificates of namespace %s take %d bytes, and its room is %d; use fewer certificates or shorter chains, or ask the administrator to raise certificate_data in the setting %s",
			owner.Ref.Namespace, used, share, SharedDicts)}
}
