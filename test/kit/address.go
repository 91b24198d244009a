package kit

import (
	"net"
	"testing"
)

// OwnAddress is an IPv4 address of this machine that is none of its loopback, "" if
// it has no such address.
func OwnAddress(t testing.TB) string {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		if network, ok := a.(*net.IPNet); ok && network.IP.To4() != nil && network.IP.IsGlobalUnicast() {
			return network.IP.String()
		}
	}
	return ""
}
