package annotations

import (
	"sluice/internal/keys"
)

// DenyList keeps some addresses from the paths of the Ingress. It comes before
// the allow list.
type DenyList struct {
	Networks keys.CIDRs `key:"denylist-source-range" from:"denylist-source-range" risk:"medium" validate:"max=4096" empty:"invalid" protects:"true" doc:"Addresses and networks that may not reach the paths and get 403; at most 4096."`
}

// Print gives the list; the ConfigMap's too, which holds for the paths of
// Ingresses only and so is not said at http level.
func (d DenyList) Print(Place) any {
	if len(d.Networks) == 0 {
		return nil
	}
	return d
}

// AllowList lets only some addresses reach the paths of the Ingress. It is the
// address of the connection, unless nginx was told to trust a header.
type AllowList struct {
	Networks keys.CIDRs `key:"allowlist-source-range" alias:"whitelist-source-range" from:"whitelist-source-range" risk:"medium" validate:"max=4096" empty:"invalid" protects:"true" doc:"Addresses and networks that may reach the paths, at most 4096; others get 403."`
}

// Print gives the list; the ConfigMap's too, which holds for the paths of
// Ingresses only and so is not said at http level.
func (a AllowList) Print(Place) any {
	if len(a.Networks) == 0 {
		return nil
	}
	return a
}
