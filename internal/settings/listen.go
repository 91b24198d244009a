package settings

import (
	"net/netip"
	"slices"
)

// Bind returns the addresses on which nginx listens, each once; none means all.
func (l Listen) Bind() []string {
	var all []string
	for _, text := range l.Addresses {
		if address, err := netip.ParseAddr(text); err == nil && !slices.Contains(all, address.Unmap().String()) {
			all = append(all, address.Unmap().String())
		}
	}
	return all
}
