package model

// ServerTLS is the TLS of a server that differs from that of the catch-all server. Such a
// server has a TLS context of its own in nginx; directives of TLS in any other server would
// have no effect. The zero value of a field means the setting of the controller.
type ServerTLS struct {
	Ciphers string `json:"ciphers,omitempty"`
	// PreferCiphers is "on" or "off".
	PreferCiphers string `json:"preferCiphers,omitempty"`
	// CiphersFrom is the object that asked for the two.
	CiphersFrom ObjectRef `json:"ciphersFrom,omitzero"`
	// Clients verifies the certificates of clients; nil does not ask for any.
	Clients *ClientTrust `json:"clients,omitempty"`
}

// ClientTrust is how certificates of clients are verified.
type ClientTrust struct {
	// Verify is a value of nginx's ssl_verify_client: "on", "optional" or
	// "optional_no_ca".
	Verify string `json:"verify"`
	ClientCA
	// Source is the object that asked for it.
	Source ObjectRef `json:"source"`
}

// ClientCA is the authorities whose certificates clients may have. Equal values accept the
// same certificates.
type ClientCA struct {
	// CA and Revoked are PEM: the certificates of the authorities and, if not empty,
	// their revocation lists. Both are public, so they may be files.
	CA      string `json:"ca"`
	Revoked string `json:"revoked,omitempty"`
	// Until is when the first of these lists lapses, in seconds since 1970; 0 for never.
	// From then on, OpenSSL accepts no certificate of its authority.
	Until int64 `json:"until,omitempty"`
	// Depth is the length of the longest accepted chain.
	Depth int `json:"depth"`
}
