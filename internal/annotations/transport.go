package annotations

import "strings"

// Transport is how nginx speaks to the backends.
type Transport struct {
	Protocol string `key:"backend-protocol" default:"HTTP" risk:"low" validate:"oneofci=HTTP HTTPS" undone:"GRPC GRPCS FCGI AUTO_HTTP" doc:"Protocol of the backends."`
	// Secret is "namespace/name", empty for none. Without it the fields below
	// have no effect, as in ingress-nginx.
	Secret      string `key:"proxy-ssl-secret" risk:"medium" validate:"secret_ref" protects:"true" doc:"Secret with the authorities that sign the certificates of the backends (ca.crt)."`
	Verify      string `key:"proxy-ssl-verify" default:"off" off:"off false no 0" risk:"low" validate:"oneof=on off" needs:"proxy-ssl-secret" protects:"true" doc:"Whether the certificates of the backends are verified."`
	Name        string `key:"proxy-ssl-name" risk:"high" validate:"server_name" needs:"proxy-ssl-secret" doc:"Name that the certificates of the backends must have, and that is sent by SNI."`
	ServerName  string `key:"proxy-ssl-server-name" default:"off" off:"off false no 0" alone:"true" risk:"low" validate:"oneof=on off" needs:"proxy-ssl-secret" doc:"Whether the name is sent by SNI."`
	VerifyDepth int    `key:"proxy-ssl-verify-depth" default:"1" risk:"low" validate:"min=0,max=100" needs:"proxy-ssl-secret" doc:"Length of the longest chain of certificates that is accepted; 0 is 1."`
}

// TLS is true if the backends speak HTTPS.
func (t Transport) TLS() bool { return strings.EqualFold(t.Protocol, "HTTPS") }

// VerifiedName is the name that the certificates of the backends must have, "" if nginx
// need not verify them.
func (t Transport) VerifiedName() string {
	if !t.TLS() || t.Secret == "" || t.Verify != "on" {
		return ""
	}
	return t.Name
}
