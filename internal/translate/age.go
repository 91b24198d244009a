package translate

import (
	"cmp"
	"strings"
	"time"
)

// age orders owners: of two claims for the same requests the older one counts.
type age struct {
	created time.Time
	// name is "namespace/name" and decides between owners of the same second: the
	// first in the alphabet counts, or the last if lastFirst is set, as ingress-nginx
	// has it for Ingresses.
	name      string
	lastFirst bool
}

// compare is negative if a is older than b.
func (a age) compare(b age) int {
	switch order := a.created.Compare(b.created); {
	case order != 0:
		return order
	case a.lastFirst != b.lastFirst:
		return cmp.Compare(tieRank(b), tieRank(a))
	case a.lastFirst:
		return strings.Compare(b.name, a.name)
	}
	return strings.Compare(a.name, b.name)
}

func tieRank(a age) int {
	if a.lastFirst {
		return 1
	}
	return 0
}
