package claim

import (
	"slices"
	"strings"
)

// Covers says whether one of the names is the host, or a wildcard for it.
func Covers(names []string, host string) bool {
	_, parent, _ := strings.Cut(host, ".")
	for _, name := range names {
		if strings.EqualFold(name, host) || parent != "" && strings.EqualFold(name, "*."+parent) {
			return true
		}
	}
	return false
}

// Meant says whether a tls item that does not name a host is for it: it names
// none at all, or a wildcard above the host or a name under it.
func Meant(item *TLSItem, host string) bool {
	return len(item.Hosts) == 0 || slices.ContainsFunc(item.Hosts, func(h string) bool { return Related(h, host) })
}

// Related says whether two hosts are the same or one is a wildcard above the
// other.
func Related(a, b string) bool {
	return Covers([]string{a}, b) || Covers([]string{b}, a)
}
