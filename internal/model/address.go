package model

import (
	"net/netip"
	"slices"
)

// Forbidden reports whether an ExternalName must not lead to an address. Through it,
// the owner of the name would reach this machine, its link or its cloud's metadata.
// IPv6 addresses that contain a forbidden IPv4 address are forbidden too.
func Forbidden(address netip.Addr) bool {
	a := address.Unmap()
	if !a.IsValid() || a.Zone() != "" || a.IsUnspecified() || a.IsLoopback() || a.IsMulticast() || a.IsLinkLocalUnicast() {
		return true
	}
	if slices.ContainsFunc(forbidden, func(p netip.Prefix) bool { return p.Contains(a) }) {
		return true
	}
	return slices.ContainsFunc(embedding, func(e embedded) bool {
		if !e.prefix.Contains(a) {
			return false
		}
		bytes := a.As16()
		four := [4]byte(bytes[e.at : e.at+4])
		for i := range four {
			four[i] ^= e.mask
		}
		return Forbidden(netip.AddrFrom4(four))
	})
}

// forbidden are the prefixes besides those that netip knows. Sources: RFC 6890, tables
// 1 and 17, and the documentation of clouds on their metadata services.
var forbidden = prefixes(
	"0.0.0.0/8", "255.255.255.255/32",
	"100.100.100.200/32",                                                 // Alibaba Cloud
	"168.63.129.16/32",                                                   // Azure
	"192.0.0.192/32",                                                     // Oracle Cloud
	"fd00:ec2::/32",                                                      // AWS
	"fd20:ce::254/128",                                                   // Google Cloud
	"fd00:c1::a9fe:a9fe/128", "fd00:42::42/128", "fd00:a9fe:a9fe::1/128", // Oracle Cloud, Scaleway, Akamai
)

// embedded is a prefix of IPv6 addresses with an IPv4 address at a byte. Each of its
// bytes is xored with mask.
type embedded struct {
	prefix netip.Prefix
	at     int
	mask   byte
}

// Sources: RFC 4291, 6052, 8215, 2765, 3056 and 4380.
var embedding = []embedded{
	{netip.MustParsePrefix("::/96"), 12, 0},
	{netip.MustParsePrefix("64:ff9b::/96"), 12, 0},
	{netip.MustParsePrefix("64:ff9b:1::/48"), 12, 0},
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 12, 0},
	{netip.MustParsePrefix("2002::/16"), 2, 0},
	{netip.MustParsePrefix("2001::/32"), 12, 0xff},
}

func prefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		all[i] = netip.MustParsePrefix(text)
	}
	return all
}
