package e2e

import (
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net/http/httptest"
	"testing"
)

// tlsBackend starts an HTTPS backend that presents a certificate.
func tlsBackend(t *testing.T, name string, pair keyPair) *httptest.Server {
	t.Helper()
	certificate, err := tls.X509KeyPair(pair.certificate, pair.key)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(echo(name))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

// authority gives a Secret with a trusted authority.
func authority(name string, pair keyPair) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {name: %s, namespace: default}\ndata: {ca.crt: %s}\n---\n",
		name, base64.StdEncoding.EncodeToString(pair.certificate))
}

// TestKeptConnectionsAreNotMixed: four hosts speak to one endpoint, each with
// another idea of whom to trust. A connection that one of them verified, or did
// not verify, must never serve another: whatever was asked before, each host
// gives its own answer.
func TestKeptConnectionsAreNotMixed(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		right, wrong := newKeyPair(t, 1, "backend.internal"), newKeyPair(t, 2, "backend.internal")
		web := tlsBackend(t, "web", right)
		secure := func(name, trusted, verify, serverName string) string {
			return ingress(name, name+".example", []string{"/ Prefix web"}, "backend-protocol: HTTPS",
				"proxy-ssl-secret: default/"+trusted, "proxy-ssl-verify: "+verify, "proxy-ssl-name: "+serverName, "proxy-ssl-server-name: on")
		}
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web),
			"ca.yaml": authority("right", right) + authority("wrong", wrong),
			"hosts.yaml": secure("verified", "right", "on", "backend.internal") +
				secure("misnamed", "right", "on", "other.internal") +
				secure("distrusted", "wrong", "on", "backend.internal") +
				secure("unverified", "wrong", "off", "backend.internal"),
		}, "--configmap", "default/config")
		want := map[string]int{"verified": 200, "misnamed": 502, "distrusted": 502, "unverified": 200}
		sequences := [][]string{
			{"misnamed", "verified", "misnamed", "distrusted"},
			{"distrusted", "unverified", "distrusted", "misnamed"},
			{"verified", "misnamed", "unverified", "distrusted"},
			{"unverified", "verified", "distrusted", "misnamed"},
		}
		s.waitBackend("http://verified.example/", "web")
		for _, sequence := range sequences {
			for range 5 {
				for _, host := range sequence {
					a, err := s.get("http://" + host + ".example/")
					if err != nil || a.status != want[host] {
						t.Errorf("in the sequence %v: %s answers %d (error %v), want %d", sequence, host, a.status, err, want[host])
					}
				}
			}
		}
	})
}
