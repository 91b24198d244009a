package settings

import "sluice/internal/keys"

// DebugHeader configures the request header X-Sluice-Debug: who asks with the token of the
// Secret, from one of the addresses, gets the decision about the request with the answer. If
// a value is not valid, nobody gets it.
type DebugHeader struct {
	Secret  string     `key:"debug-header-secret" validate:"secret_ref" doc:"Secret whose key token has the token for the request header X-Sluice-Debug, of 16 bytes or more. A request with it, from an address of debug-header-cidrs, gets the header X-Sluice-Debug with its answer: JSON with the location, the Ingress, the backend and the endpoint. Backends never get the header."`
	Clients keys.CIDRs `key:"debug-header-cidrs" empty:"zero" invalid:"zero" instead:"nobody gets the header" needs:"debug-header-secret" permits:"true" doc:"Addresses and networks of clients that may ask by X-Sluice-Debug. Empty means no address."`
}

// DebugHeaderBlock names the block of the group.
const DebugHeaderBlock = "debug-header"
