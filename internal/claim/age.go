package claim

import (
	"cmp"
	"strings"
	"time"
)

// Age orders owners: of two claims for the same requests, that of the older owner wins.
type Age struct {
	Created time.Time
	// Name is "namespace/name". It decides between owners of the same second: the first
	// in the alphabet wins, or the last if LastFirst is set, as ingress-nginx does it
	// for Ingresses.
	Name      string
	LastFirst bool
}

// Compare is negative if a is older than b.
func (a Age) Compare(b Age) int {
	switch order := a.Created.Compare(b.Created); {
	case order != 0:
		return order
	case a.LastFirst != b.LastFirst:
		return cmp.Compare(tieRank(b), tieRank(a))
	case a.LastFirst:
		return strings.Compare(b.Name, a.Name)
	}
	return strings.Compare(a.Name, b.Name)
}

func tieRank(a Age) int {
	if a.LastFirst {
		return 1
	}
	return 0
}
