package annotations

import (
	"strings"

	"sluice/internal/keys"
	"sluice/internal/model"
)

// Transport configures the connection to the backends.
type Transport struct {
	Protocol string `key:"backend-protocol" default:"HTTP" risk:"low" validate:"oneofci=HTTP HTTPS GRPC GRPCS FCGI AUTO_HTTP" costs:"all" doc:"Protocol of the backends. GRPC and GRPCS are gRPC without and with TLS, FCGI is FastCGI. With AUTO_HTTP, nginx asks the backends as the client asked it: by HTTP or by HTTPS."`
	// Secret is "namespace/name". Without it, the fields below have no effect, as in
	// ingress-nginx.
	Secret      string     `key:"proxy-ssl-secret" risk:"medium" validate:"secret_ref" protects:"true" doc:"Secret with the certificates of the authorities that sign the certificates of the backends (ca.crt), with a certificate and its key that nginx presents to them (tls.crt, tls.key), or with both."`
	Verify      string     `key:"proxy-ssl-verify" default:"off" off:"off false no 0" risk:"low" validate:"oneof=on off" needs:"proxy-ssl-secret" protects:"true" doc:"Whether nginx verifies the certificates of the backends."`
	Name        string     `key:"proxy-ssl-name" risk:"high" validate:"server_name" needs:"proxy-ssl-secret" costs:"all" doc:"Name in the certificates of the backends. nginx also sends it by SNI."`
	ServerName  string     `key:"proxy-ssl-server-name" default:"off" off:"off false no 0" risk:"low" validate:"oneof=on off" needs:"proxy-ssl-secret" doc:"Whether nginx sends the name by SNI."`
	VerifyDepth int        `key:"proxy-ssl-verify-depth" default:"1" risk:"low" validate:"min=0,max=100" needs:"proxy-ssl-secret" doc:"Maximum length of a certificate chain. 0 counts as 1."`
	Ciphers     string     `key:"proxy-ssl-ciphers" default:"DEFAULT" risk:"medium" validate:"ciphers" needs:"proxy-ssl-secret" doc:"Ciphers towards the backends, for TLS 1.2."`
	Protocols   keys.Words `key:"proxy-ssl-protocols" default:"TLSv1.2" risk:"low" validate:"dive,oneof=TLSv1.2 TLSv1.3" needs:"proxy-ssl-secret" doc:"Versions of TLS towards the backends."`
	// Index and Params are for FastCGI.
	Index  string `key:"fastcgi-index" risk:"medium" validate:"file_name" needs:"backend-protocol" doc:"File name that nginx appends to a URI with a slash at its end, in the parameter SCRIPT_NAME and the variable $fastcgi_script_name. For backend-protocol: FCGI."`
	Params string `key:"fastcgi-params-configmap" risk:"medium" validate:"configmap_name" needs:"backend-protocol" closes:"true" doc:"ConfigMap with further FastCGI parameters, such as SCRIPT_FILENAME. Values can have variables such as $fastcgi_script_name. Sluice needs the permission to read it (rbac.headerConfigMaps of the chart). A ConfigMap of another namespace has to delegate itself, with its annotation sluice.io/delegation."`
}

// protocols are the protocols of the backends by the values of the annotation.
var protocols = map[string]model.Transport{
	"HTTP": {}, "HTTPS": {TLS: true}, "AUTO_HTTP": {Protocol: model.AutoHTTP, TLS: true},
	"GRPC": {Protocol: model.GRPC}, "GRPCS": {Protocol: model.GRPC, TLS: true}, "FCGI": {Protocol: model.FastCGI},
}

// To is the transport without the settings of TLS.
func (t Transport) To() model.Transport { return protocols[strings.ToUpper(t.Protocol)] }

// TLS reports whether nginx speaks TLS with the backends. With AUTO_HTTP it does so for
// requests over HTTPS.
func (t Transport) TLS() bool { return t.To().TLS }

// VerifiedName is the name that the certificates of the backends must have, "" if nginx
// need not verify them.
func (t Transport) VerifiedName() string {
	if !t.TLS() || t.Secret == "" || t.Verify != "on" {
		return ""
	}
	return t.Name
}
