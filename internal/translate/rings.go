package translate

import (
	"sluice/internal/assemble"
	"sluice/internal/model"
)

const (
	// mostRingPoints is the most points that the hash rings of one namespace have in a
	// worker of nginx, at 6 bytes each.
	mostRingPoints = 500_000
	// usualRingPoints is the limit of one ring in rootfs/etc/nginx/lua/sluice/ring.lua.
	usualRingPoints = 20_000
)

// rings counts the backends with a hash ring by namespace.
type rings map[string]int

func countRings(backends []*assemble.Backend) rings {
	counts := rings{}
	for _, b := range backends {
		if hasRing(b) {
			counts[b.ID.Service.Namespace]++
		}
	}
	return counts
}

func hasRing(b *assemble.Backend) bool {
	return b.Balancing != nil && b.Balancing.Affinity == model.Balanced
}

// ration sets the limit of a backend's ring, and reports whether its model lacks it.
func (t *translation) ration(b *backend) bool {
	b.ringPoints = t.rings.limit(b.Backend)
	return b.model == nil || b.ringPoints != b.model.RingPoints
}

// limit returns the points that the ring of a backend may have; 0 is usualRingPoints. The
// rings of a namespace have equal parts, so that a change of endpoints changes no other
// ring.
func (r rings) limit(b *assemble.Backend) int {
	if !hasRing(b) {
		return 0
	}
	if part := mostRingPoints / r[b.ID.Service.Namespace]; part < usualRingPoints {
		return max(part, 1)
	}
	return 0
}
