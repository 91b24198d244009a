package annotations

import (
	"strings"

	"sluice/internal/keys"
)

// Transport configures the connection to the backends.
type Transport struct {
	Protocol string `key:"backend-protocol" default:"HTTP" risk:"low" validate:"oneofci=HTTP HTTPS" undone:"GRPC GRPCS FCGI AUTO_HTTP" doc:"Protocol of the backends."`
	// Secret is "namespace/name". Without it, the fields below have no effect, as in
	// ingress-nginx.
	Secret      string     `key:"proxy-ssl-secret" risk:"medium" validate:"secret_ref" protects:"true" doc:"Secret with the certificates of the authorities that sign the certificates of the backends (ca.crt), with a certificate and its key that nginx presents to them (tls.crt, tls.key), or with both."`
	Verify      string     `key:"proxy-ssl-verify" default:"off" off:"off false no 0" risk:"low" validate:"oneof=on off" needs:"proxy-ssl-secret" protects:"true" doc:"Whether nginx verifies the certificates of the backends."`
	Name        string     `key:"proxy-ssl-name" risk:"high" validate:"server_name" needs:"proxy-ssl-secret" doc:"Name in the certificates of the backends. nginx also sends it by SNI."`
	ServerName  string     `key:"proxy-ssl-server-name" default:"off" off:"off false no 0" alone:"true" risk:"low" validate:"oneof=on off" needs:"proxy-ssl-secret" doc:"Whether nginx sends the name by SNI."`
	VerifyDepth int        `key:"proxy-ssl-verify-depth" default:"1" risk:"low" validate:"min=0,max=100" needs:"proxy-ssl-secret" doc:"Maximum length of a certificate chain. 0 counts as 1."`
	Ciphers     string     `key:"proxy-ssl-ciphers" default:"DEFAULT" alone:"true" risk:"medium" validate:"ciphers" needs:"proxy-ssl-secret" doc:"Ciphers towards the backends, for TLS 1.2."`
	Protocols   keys.Words `key:"proxy-ssl-protocols" default:"TLSv1.2" alone:"true" risk:"low" validate:"dive,oneof=TLSv1.2 TLSv1.3" needs:"proxy-ssl-secret" doc:"Versions of TLS towards the backends."`
}

// TLS reports whether the backends speak HTTPS.
func (t Transport) TLS() bool { return strings.EqualFold(t.Protocol, "HTTPS") }

// VerifiedName is the name that the certificates of the backends must have, "" if nginx
// need not verify them.
func (t Transport) VerifiedName() string {
	if !t.TLS() || t.Secret == "" || t.Verify != "on" {
		return ""
	}
	return t.Name
}
