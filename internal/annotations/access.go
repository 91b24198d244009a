package annotations

import "sluice/internal/keys"

// DenyList excludes addresses from the paths. It overrides the allow list.
type DenyList struct {
	Networks keys.CIDRs `key:"denylist-source-range" from:"denylist-source-range" risk:"medium" validate:"max=4096" empty:"invalid" protects:"true" doc:"Addresses and networks that may not reach the paths and get 403; at most 4096."`
}

// Print returns the list. It also prints the list of the ConfigMap, which is not at http
// level because it applies only to the paths of Ingresses.
func (d DenyList) Print(Place) any {
	if len(d.Networks) == 0 {
		return nil
	}
	return d
}

// AllowList restricts the paths to some addresses. The address is that of the connection,
// unless the settings trust a header.
type AllowList struct {
	Networks keys.CIDRs `key:"allowlist-source-range" alias:"whitelist-source-range" from:"whitelist-source-range" risk:"medium" validate:"max=4096" empty:"invalid" protects:"true" doc:"Addresses and networks that may reach the paths, at most 4096; others get 403."`
}

// Print returns the list, like DenyList.Print.
func (a AllowList) Print(Place) any {
	if len(a.Networks) == 0 {
		return nil
	}
	return a
}
