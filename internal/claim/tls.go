package claim

import (
	"slices"
	"strings"

	"sluice/internal/snapshot"
)

// TLS is the section spec.tls of an owner. NewTLS makes it. An Ingress can have thousands of items
// and of hosts, so that each host must not look at each item.
type TLS struct {
	Items []TLSItem
	// itemOf is the first item that names a host, and itemBelow the first one with a name below it.
	// They are nil for a few items and hosts, which need less memory without.
	itemOf, itemBelow map[string]int
	// Hostless are the items that name no host.
	Hostless []int
}

// TLSItem assigns a certificate to hosts.
type TLSItem struct {
	Hosts []string
	// Secret holds the certificate; its Name is empty for the default one. Field names
	// it.
	Secret snapshot.Name
	Field  string
}

// few items and hosts take no time to look at each of them.
const few = 8

// NewTLS returns the section with some items.
func NewTLS(items []TLSItem) TLS {
	t, hosts := TLS{Items: items}, 0
	for at, item := range items {
		hosts += len(item.Hosts)
		if len(item.Hosts) == 0 {
			t.Hostless = append(t.Hostless, at)
		}
	}
	if hosts+len(items) <= few {
		return t
	}
	t.itemOf, t.itemBelow = make(map[string]int, hosts), map[string]int{}
	for at, item := range slices.Backward(items) { // so that the first item is set last
		for _, host := range item.Hosts {
			host = strings.ToLower(host)
			t.itemOf[host] = at
			if _, parent, _ := strings.Cut(host, "."); parent != "" {
				t.itemBelow[parent] = at
			}
		}
	}
	return t
}

// first returns the index of the first item that names a host that holds, or -1.
func (t *TLS) first(holds func(host string) bool) int {
	return slices.IndexFunc(t.Items, func(item TLSItem) bool { return slices.ContainsFunc(item.Hosts, holds) })
}

// ItemOf returns the index of the first item that names a host, or -1.
func (t *TLS) ItemOf(host string) int {
	if t.itemOf == nil {
		return t.first(func(h string) bool { return strings.EqualFold(h, host) })
	}
	if at, found := t.itemOf[strings.ToLower(host)]; found {
		return at
	}
	return -1
}

// Above returns the index of the first item that names the wildcard above a host or, for a wildcard,
// a name below it. It is -1 if there is none. It is for hosts that no item names.
func (t *TLS) Above(host string) int {
	if t.itemOf == nil {
		return t.first(func(h string) bool { return !strings.EqualFold(h, host) && Related(h, host) })
	}
	host = strings.ToLower(host)
	if below, isWildcard := strings.CutPrefix(host, "*."); isWildcard {
		if at, found := t.itemBelow[below]; found {
			return at
		}
		return -1
	}
	if _, parent, _ := strings.Cut(host, "."); parent != "" {
		if at, found := t.itemOf["*."+parent]; found {
			return at
		}
	}
	return -1
}

// For reports whether an item may be for a host: it names the host or none, the wildcard above the
// host, or a name below it.
func (t *TLS) For(host string) bool {
	return host != "" && (len(t.Hostless) > 0 || t.ItemOf(host) >= 0 || t.Above(host) >= 0)
}

// Names finds out whether hosts are related to one of many.
type Names struct{ names, parents map[string]bool }

// NamesOf returns the Names of hosts.
func NamesOf(hosts []string) Names {
	n := Names{make(map[string]bool, len(hosts)), make(map[string]bool, len(hosts))}
	for _, host := range hosts {
		host = strings.ToLower(host)
		n.names[host] = true
		if _, parent, _ := strings.Cut(host, "."); parent != "" {
			n.parents[parent] = true
		}
	}
	return n
}

// Related reports whether a host is related to one of them, as the function of that name does.
func (n Names) Related(host string) bool {
	host = strings.ToLower(host)
	if _, parent, _ := strings.Cut(host, "."); n.names[host] || parent != "" && n.names["*."+parent] {
		return true
	}
	below, isWildcard := strings.CutPrefix(host, "*.")
	return isWildcard && n.parents[below]
}
