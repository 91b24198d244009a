package translate

import (
	"math/bits"

	"sluice/internal/assemble"
	"sluice/internal/model"
)

const (
	// mostRingPoints is the most points that the hash rings of one namespace have in a
	// worker of nginx, at 6 bytes each, and 2 more for each endpoint of small subsets.
	mostRingPoints = 500_000
	// usualRingPoints is the most points of one ring.
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
	return b.Balancing != nil && (b.Balancing.Affinity == model.Balanced || b.Balancing.Hash != nil)
}

// ration sets the limit of a backend's ring, and reports whether its model lacks it.
func (t *translation) ration(b *backend) bool {
	b.ringPoints = t.rings.limit(b.Backend)
	return b.model == nil || b.ringPoints != b.model.RingPoints
}

// limit returns the points that the ring of a backend may have, 0 if it has no ring. The
// rings of a namespace have equal parts. The divisor is a power of two, so that one ring
// more seldom changes the others, which moves sessions.
func (r rings) limit(b *assemble.Backend) int {
	if !hasRing(b) {
		return 0
	}
	divisor := 1 << bits.Len(uint(r[b.ID.Service.Namespace]-1))
	return max(min(usualRingPoints, mostRingPoints/divisor), 1)
}
