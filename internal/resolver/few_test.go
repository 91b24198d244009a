package resolver

import (
	"net/netip"
	"testing"
)

// Whose name it is may have DNS give any number of addresses.
func TestFewAddressesAreTold(t *testing.T) {
	t.Parallel()
	var many []netip.Addr
	for i := range 1000 {
		many = append(many, netip.AddrFrom4([4]byte{127, 0, byte(i >> 8), byte(i)}))
	}
	for n, want := range map[int]string{1: "127.0.0.0", 5: "127.0.0.0 127.0.0.1 127.0.0.2 127.0.0.3 127.0.0.4", 1000: "127.0.0.0 127.0.0.1 127.0.0.2 127.0.0.3 127.0.0.4 and 995 more"} {
		if got := few(many[:n]); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
