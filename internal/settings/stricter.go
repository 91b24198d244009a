package settings

import (
	"net/netip"
	"slices"

	"sluice/internal/keys"
)

// stricter reports for each key that permits something whether settings permit less by it than
// others did.
var stricter = map[string]func(now, was *Settings) bool{
	"host-ownership":          func(now, was *Settings) bool { return now.Hosts.ByNamespace() && !was.Hosts.ByNamespace() },
	"target-scope":            func(now, was *Settings) bool { return now.Targets.OwnNamespace() && !was.Targets.OwnNamespace() },
	"max-hosts-per-namespace": func(now, was *Settings) bool { return lower(now.Bounds.Hosts, was.Bounds.Hosts) },
	"max-paths-per-namespace": func(now, was *Settings) bool { return lower(now.Bounds.Paths, was.Bounds.Paths) },
	"allow-cross-namespace-resources": func(now, was *Settings) bool {
		return was.Annotations.CrossNamespace && !now.Annotations.CrossNamespace
	},
	"allow-snippet-annotations": func(now, was *Settings) bool { return was.Annotations.AllowSnippets && !now.Annotations.AllowSnippets },
	"annotations-risk-level":    func(now, was *Settings) bool { return now.Annotations.RiskLevel < was.Annotations.RiskLevel },
	"annotation-value-word-blocklist": func(now, was *Settings) bool {
		return fewer(was.Annotations.WordBlocklist, now.Annotations.WordBlocklist)
	},
	"global-allowed-response-headers": func(now, was *Settings) bool {
		return fewer(now.Annotations.ResponseHeaders, was.Annotations.ResponseHeaders)
	},
	"password-hash-max-cost": func(now, was *Settings) bool { return now.Access.PasswordCost < was.Access.PasswordCost },
	"no-auth-locations":      func(now, was *Settings) bool { return fewer(now.Auth.NoAuthLocations, was.Auth.NoAuthLocations) },
	"no-tls-redirect-locations": func(now, was *Settings) bool {
		return fewer(now.Redirects.NoTLSLocations, was.Redirects.NoTLSLocations)
	},
	"nginx-status-ipv4-whitelist": func(now, was *Settings) bool { return narrower(now.Status.IPv4, was.Status.IPv4) },
	"nginx-status-ipv6-whitelist": func(now, was *Settings) bool { return narrower(now.Status.IPv6, was.Status.IPv6) },
	"debug-header-cidrs":          func(now, was *Settings) bool { return narrower(now.DebugHeader.Clients, was.DebugHeader.Clients) },
}

// stricterThan returns the keys by which s permits less than o, sorted.
func (s *Settings) stricterThan(o *Settings) []string {
	var found []string
	for key, permitsLess := range stricter {
		if permitsLess(s, o) {
			found = append(found, key)
		}
	}
	slices.Sort(found)
	return found
}

// lower compares bounds, of which 0 is none.
func lower(now, was int) bool { return now != 0 && (was == 0 || now < was) }

// fewer reports whether was has all items of now, and more.
func fewer(now, was []string) bool {
	lacks := func(list []string) func(string) bool {
		return func(item string) bool { return !slices.Contains(list, item) }
	}
	return !slices.ContainsFunc(now, lacks(was)) && slices.ContainsFunc(was, lacks(now))
}

// narrower reports whether the networks of was contain all of now, and more.
func narrower(now, was keys.CIDRs) bool { return within(now, was) && !within(was, now) }

// within reports whether each network is inside another one of a list.
func within(networks, list keys.CIDRs) bool {
	outside := func(text string) bool {
		inner, err := network(text)
		return err != nil || !slices.ContainsFunc(list, func(text string) bool {
			outer, err := network(text)
			return err == nil && outer.Bits() <= inner.Bits() && outer.Contains(inner.Addr())
		})
	}
	return !slices.ContainsFunc(networks, outside)
}

func network(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(address, address.BitLen()), nil
	}
	return netip.ParsePrefix(text)
}
