package annotations

// Passthrough passes TLS connections through to the backend.
type Passthrough struct {
	Enabled bool `key:"ssl-passthrough" default:"false" risk:"low" costs:"all" doc:"Whether nginx passes TLS connections to the hosts of the Ingress on to the Service of their path / without decrypting them, so that the Service presents the certificate. Needs the flag --enable-ssl-passthrough."`
}
