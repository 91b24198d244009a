package e2e

import (
	"crypto/x509"
	"encoding/asn1"
	"encoding/pem"
	"fmt"
	"net/http"
	"testing"
)

// refusedAlone are Ingresses that nginx refuses, whatever is beside them.
var refusedAlone = map[string][]string{
	"ciphers":                  {"ssl-ciphers: TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"},
	"ciphers, one word":        {"ssl-ciphers: FOO"},
	"ciphers, only strength":   {"ssl-ciphers: @STRENGTH"},
	"ciphers of the backend":   {"proxy-ssl-secret: default/ca", "proxy-ssl-ciphers: NOSUCH", "backend-protocol: HTTPS"},
	"a zone that is not there": {"server-snippet: location /cached { proxy_cache static_cache; }"},
	"a file that is not there": {"backend-protocol: HTTPS", "configuration-snippet: proxy_ssl_certificate /nosuch/client.crt; proxy_ssl_certificate_key /nosuch/client.key;"},
	"an unknown variable":      {"configuration-snippet: add_header X-Country $country_nosuch;"},
	"a variable of GeoIP":      {"configuration-snippet: add_header X-Country $geoip_country_nosuch;"},
	"in an auth-snippet":       {"auth-url: http://web.default.svc.cluster.local/", "auth-snippet: proxy_set_header X-A $nothing;"},
	"a strange authority":      {"auth-tls-secret: default/strange"},
}

// TestOneIngressNeverStopsAnother: nginx refuses an Ingress, on a new pod and on one that
// runs, alone and beside one with a sign-in page. Everybody else is served, and a
// protection that another one adds is in force.
func TestOneIngressNeverStopsAnother(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		for name, annotations := range refusedAlone {
			for _, running := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, running %v", name, running), func(t *testing.T) {
					oneIngressNeverStopsAnother(t, root, annotations, running)
				})
			}
		}
	})
}

func oneIngressNeverStopsAnother(t *testing.T, root string, annotations []string, running bool) {
	t.Helper()
	web := backend(t, "web")
	bad := ingress("bad", "own.example", []string{"/ Prefix web"}, annotations...) +
		ingress("sign-in", "shared.example", []string{"/sign-in Prefix web"}, "auth-url: http://web.default.svc.cluster.local/", "auth-signin: http://sign.example/")
	manifests := map[string]string{
		"class.yaml": class, "web.yaml": service("web", web), "settings.yaml": allowed,
		"ca.yaml": dataSecret("strange", "ca.crt", strange(t)) + dataSecret("ca", "ca.crt", string(newClientCA(t).pem)),
		"a.yaml":  ingress("a", "shared.example", []string{"/a Prefix web"}),
	}
	if !running {
		manifests["bad.yaml"] = bad
	}
	s := start(t, root, manifests, "--configmap", "default/config")
	s.waitBackend("http://shared.example/a", "web")
	s.write("bad.yaml", bad)
	s.waitLine("reason=Refused")
	s.waitBackend("http://shared.example/a", "web")
	s.waitStatus("http://shared.example/sign-in", http.StatusInternalServerError) // nobody answers the question
	s.write("a.yaml", ingress("a", "shared.example", []string{"/a Prefix web"}, "whitelist-source-range: 203.0.113.0/24"))
	s.waitStatus("http://shared.example/a", http.StatusForbidden)
}

// strange is the certificate of an authority that Go reads and OpenSSL refuses: its unique
// identifier is empty, which Go passes over.
func strange(t *testing.T) string {
	t.Helper()
	block, _ := pem.Decode(newClientCA(t).pem)
	var certificate struct {
		Signed, Algorithm asn1.RawValue
		Signature         asn1.BitString
	}
	if _, err := asn1.Unmarshal(block.Bytes, &certificate); err != nil {
		t.Fatal(err)
	}
	var signed []byte
	for rest := certificate.Signed.Bytes; len(rest) > 0; {
		var field asn1.RawValue
		var err error
		if rest, err = asn1.Unmarshal(rest, &field); err != nil {
			t.Fatal(err)
		}
		if field.Class == asn1.ClassContextSpecific && field.Tag == 3 { // the extensions
			signed = append(signed, 0x81, 0)
		}
		signed = append(signed, field.FullBytes...)
	}
	certificate.Signed = asn1.RawValue{Tag: asn1.TagSequence, IsCompound: true, Bytes: signed}
	der, err := asn1.Marshal(certificate)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}
