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
	// hosts are those of the items, each with the index of its first item. They are left out for a
	// few items and hosts, which need less memory without.
	hosts Names
	// hostless is set if an item names no host.
	hostless bool
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
	for _, item := range items {
		hosts += len(item.Hosts)
		t.hostless = t.hostless || len(item.Hosts) == 0
	}
	if hosts+len(items) <= few {
		return t
	}
	t.hosts = newNames(hosts)
	for at, item := range items {
		for _, host := range item.Hosts {
			t.hosts.add(host, at)
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
	if t.hosts.first == nil {
		return t.first(func(h string) bool { return strings.EqualFold(h, host) })
	}
	if at, found := t.hosts.first[strings.ToLower(host)]; found {
		return at
	}
	return -1
}

// For reports whether an item may be for a host: it names the host or none, the wildcard above the
// host, or a name below it.
func (t *TLS) For(host string) bool {
	switch {
	case host == "":
		return false
	case t.hostless:
		return true
	case t.hosts.first == nil:
		return t.first(func(h string) bool { return Related(h, host) }) >= 0
	}
	return t.hosts.Related(host)
}

// Names finds out whether hosts are related to one of many. All are in lower case.
type Names struct {
	// first has each name with the index that it was first added with.
	first map[string]int
	// parents are the names without their first label.
	parents map[string]bool
}

// NamesOf returns the Names of hosts.
func NamesOf(hosts []string) Names {
	n := newNames(len(hosts))
	for at, host := range hosts {
		n.add(host, at)
	}
	return n
}

func newNames(count int) Names { return Names{make(map[string]int, count), map[string]bool{}} }

func (n Names) add(host string, at int) {
	host = strings.ToLower(host)
	if _, known := n.first[host]; !known {
		n.first[host] = at
	}
	if _, parent, _ := strings.Cut(host, "."); parent != "" {
		n.parents[parent] = true
	}
}

// has reports whether a name in lower case is one of them.
func (n Names) has(name string) bool {
	_, found := n.first[name]
	return found
}

// Related reports whether a host is related to one of them, as the function of that name does.
func (n Names) Related(host string) bool {
	host = strings.ToLower(host)
	if _, parent, _ := strings.Cut(host, "."); n.has(host) || parent != "" && n.has("*."+parent) {
		return true
	}
	below, isWildcard := strings.CutPrefix(host, "*.")
	return isWildcard && n.parents[below]
}
