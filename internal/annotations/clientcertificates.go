package annotations

// ClientCertificates asks clients of the hosts for certificates.
type ClientCertificates struct {
	Secret    string `key:"auth-tls-secret" risk:"medium" validate:"secret_ref" protects:"true" doc:"Secret with the certificates of the authorities that sign the certificates of clients (ca.crt) and, if it has the key ca.crl, their revocation lists. The hosts of the Ingress then ask clients for a certificate."`
	Depth     int    `key:"auth-tls-verify-depth" default:"1" risk:"low" validate:"min=0,max=100" needs:"auth-tls-secret" doc:"Maximum length of the chain of a certificate of a client. 0 counts as 1."`
	ErrorPage string `key:"auth-tls-error-page" risk:"high" validate:"error_page" needs:"auth-tls-secret" instead:"nginx answers 400 itself" doc:"URL to which clients with a wrong certificate, or without one, are redirected; or a path of the host, or a named location of a snippet, that answers them."`
	Pass      bool   `key:"auth-tls-pass-certificate-to-upstream" default:"false" risk:"low" needs:"auth-tls-secret" doc:"Whether backends get the certificate of the client in the header ssl-client-cert, as PEM in URL encoding."`
}

// On reports whether clients are asked for certificates.
func (c ClientCertificates) On() bool { return c.Secret != "" }

// MostDepth is Depth as nginx takes it.
func (c ClientCertificates) MostDepth() int { return max(c.Depth, 1) }

// ClientCheck decides which clients pass.
type ClientCheck struct {
	Verify  string `key:"auth-tls-verify-client" default:"on" off:"off" risk:"medium" validate:"oneof=on off optional optional_no_ca" needs:"auth-tls-secret" protects:"true" costs:"itself" doc:"Whether a client must have a certificate: on for a valid one, optional for a valid one or none, optional_no_ca for any or none, off for not asking. The header ssl-client-verify tells backends the result."`
	Subject string `key:"auth-tls-match-cn" risk:"high" validate:"subject_pattern" needs:"auth-tls-secret" protects:"true" doc:"Regular expression for the distinguished name of the certificate, such as CN=alice,O=Shop. Other clients get 403."`
}

// Required reports whether only clients with a valid certificate pass.
func (c ClientCheck) Required() bool { return c.Verify == "on" }
