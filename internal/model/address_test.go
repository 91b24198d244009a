package model

import (
	"net/netip"
	"testing"
)

// An ExternalName never leads to an address that only this machine should reach, in any
// notation.
func TestForbidden(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"127.0.0.1", "0.1.2.3", "0.0.0.0", "255.255.255.255", "224.0.0.1", "169.254.169.254", "100.100.100.200", "168.63.129.16", "192.0.0.192",
		"::1", "::", "fe80::1", "fe80::1%eth0", "2001:db8::1%eth0", "ff02::1", "::ffff:127.0.0.1", "::ffff:168.63.129.16", "::127.0.0.1", "fd00:ec2::254", "fd00:ec2::253", "fd20:ce::254",
		"fd00:c1::a9fe:a9fe", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b::6464:64c8", "64:ff9b:1::7f00:1", "::ffff:0:7f00:1", "2002:7f00:1::1", "2002:a9fe:a9fe::", "2001:0:1:2:3:4:80ff:fffe",
	} {
		if !Forbidden(netip.MustParseAddr(text)) {
			t.Errorf("%s may be reached", text)
		}
	}
	for _, text := range []string{"10.0.0.1", "192.168.1.1", "100.64.0.1", "203.0.113.5", "192.0.0.9", "2001:db8::1", "fd00::1", "fd00:ec3::254", "64:ff9b::a00:1", "2002:a00:1::1", "fec0::1"} {
		if Forbidden(netip.MustParseAddr(text)) {
			t.Errorf("%s is refused", text)
		}
	}
	if !Forbidden(netip.Addr{}) {
		t.Error("no address may be reached")
	}
}
