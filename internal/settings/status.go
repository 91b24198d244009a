package settings

import (
	"slices"

	"sluice/internal/keys"
)

// Status configures /nginx_status, which shows nginx's counters of connections on hosts
// that no Ingress has.
type Status struct {
	IPv4 keys.CIDRs `key:"nginx-status-ipv4-whitelist" default:"127.0.0.1" empty:"zero" invalid:"zero" instead:"nobody sees /nginx_status by this list" permits:"true" doc:"Addresses that may read nginx's counters of connections at /nginx_status of hosts without an Ingress. Others get 403. Empty means no address. Both the peer of the connection and the client that a proxy names must be in one of the two lists."`
	IPv6 keys.CIDRs `key:"nginx-status-ipv6-whitelist" default:"::1" empty:"zero" invalid:"zero" instead:"nobody sees /nginx_status by this list" permits:"true" doc:"The same for IPv6 addresses. With disable-ipv6, it counts for nothing. Empty means no address."`
}

// StatusBlock names the block with the addresses that see /nginx_status.
const StatusBlock = "status"

// StatusClients are the addresses that see /nginx_status.
type StatusClients struct{ Networks []string }

// StatusClients returns the addresses of both lists, each once.
func (s *Settings) StatusClients() StatusClients {
	all := slices.Clone(s.Status.IPv4)
	if !s.Listen.DisableIPv6 {
		all = append(all, s.Status.IPv6...)
	}
	slices.Sort(all)
	return StatusClients{slices.Compact(all)}
}
