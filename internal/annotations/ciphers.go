package annotations

import "sluice/internal/keys"

// Ciphers sets the ciphers of the hosts.
type Ciphers struct {
	List   string              `key:"ssl-ciphers" from:"ssl-ciphers" risk:"low" validate:"ciphers" doc:"Ciphers for TLS 1.2 and older of the hosts of the Ingress, the preferred first."`
	Prefer keys.Optional[bool] `key:"ssl-prefer-server-ciphers" risk:"low" instead:"the order of nginx counts" doc:"Whether the order of nginx's ciphers counts, not that of the client. The default is true."`
}
