package annotations

// Passthrough leaves the TLS of a host to its backend.
type Passthrough struct {
	Enabled bool `key:"ssl-passthrough" default:"false" risk:"low" doc:"Whether TLS connections to the hosts of the Ingress are passed to the Service of their path / as they are, so that it presents the certificate; needs --enable-ssl-passthrough."`
}
