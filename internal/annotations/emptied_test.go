package annotations

import (
	"slices"
	"strings"
	"testing"

	"sluice/internal/model"
)

// A protecting key without a value closes where another annotation says that something was
// meant; alone it is off, with a warning.
func TestEmptyProtections(t *testing.T) {
	t.Parallel()
	for written, closes := range map[string]bool{
		"auth-url=": false, "auth-url= auth-signin=": false, "auth-url= auth-always-set-cookie=false": false, "auth-url= auth-keepalive=0": false, "auth-url= enable-global-auth=true": false,
		"auth-url= auth-signin=http://a": true, "auth-url= auth-response-headers=X-User": true, "auth-url= auth-method=GET": false, "auth-url= auth-method=POST": true, "auth-url= auth-always-set-cookie=true": true,
		"auth-url= auth-signin-redirect-param=a": true, "auth-url= auth-cache-key=$http_authorization": true, "auth-url= auth-request-redirect=/x": true, "auth-url= auth-keepalive-requests=7": true, "auth-url= auth-ssl-secret=a": true,
		"auth-secret=": false, "auth-type= auth-secret=": false, "auth-secret= auth-secret-type=auth-file": false, "auth-type=": false,
		"auth-secret= auth-realm=x": true, "auth-type= auth-realm=x": true, "auth-type= auth-secret=a": true, "auth-secret= auth-secret-type=auth-map": true,
		"auth-tls-secret=": false, "auth-tls-secret= auth-tls-verify-client=off": false, "auth-tls-secret= auth-tls-verify-depth=1": false, "auth-tls-secret= auth-tls-pass-certificate-to-upstream=false": false,
		"auth-tls-secret= auth-tls-verify-client=on": true, "auth-tls-secret= auth-tls-match-cn=CN=a": true, "auth-tls-secret= auth-tls-verify-depth=2": true, "auth-tls-secret= auth-tls-error-page=http://a": true,
		"auth-tls-secret= auth-tls-pass-certificate-to-upstream=1": true,
		"proxy-ssl-secret=": false, "proxy-ssl-secret= proxy-ssl-verify=on": true, "proxy-ssl-secret= proxy-ssl-name=a.example": true, "proxy-ssl-secret= proxy-ssl-verify=off": false,
		"limit-rps=": false, "limit-rps= limit-burst-multiplier=2": true, "limit-rps= limit-burst-multiplier=5": false,
		"enable-modsecurity=": false, "enable-modsecurity= enable-owasp-core-rules=true": true,
	} {
		p := readWritten(t, written)
		if p.Denied() != closes || (len(p.Protects()) > 0) != closes {
			t.Errorf("%s: denied %v, %q protect", written, p.Denied(), p.Protects())
		}
		warns := func(p model.Problem) bool { return p.Reason == model.Unread && strings.Contains(p.Text, "it is empty") }
		if told := slices.ContainsFunc(p.Problems(), warns); !closes && !told {
			t.Errorf("%s: %v", written, p.Problems())
		}
	}
	for written, protects := range map[string]bool{
		"auth-tls-secret=a/b auth-tls-match-cn=": true, "limit-rps= limit-rpm=5 limit-burst-multiplier=2": true,
	} {
		if p := readWritten(t, written); p.Denied() || (len(p.Protects()) > 0) != protects {
			t.Errorf("%s: denied %v, %q protect", written, p.Denied(), p.Protects())
		}
	}
}

// A snippet without text is nothing, as its author wrote no directive.
func TestEmptySnippetsAreNothing(t *testing.T) {
	t.Parallel()
	for _, written := range []string{"configuration-snippet=", "server-snippet=", "auth-snippet=", "modsecurity-snippet=", "stream-snippet="} {
		if p := readWritten(t, written); p.Denied() || len(p.Protects()) > 0 || len(p.Problems()) > 0 {
			t.Errorf("%s: denied %v, %v", written, p.Denied(), p.Problems())
		}
	}
}
