package e2e

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// clientHosts are hosts with different demands. The two authorities have the same name.
func clientHosts(t *testing.T, ca, other *clientCA) map[string]string {
	t.Helper()
	web := backend(t, "web")
	asks := func(name, secret string, more ...string) string {
		return ingress(name, name+".example", []string{"/ Prefix web"}, append(more, "auth-tls-secret: default/"+secret)...)
	}
	return map[string]string{
		"class.yaml": class, "web.yaml": service("web", web),
		"ca.yaml": dataSecret("ca", "ca.crt", string(ca.pem)) + dataSecret("other", "ca.crt", string(other.pem)),
		"hosts.yaml": asks("strict", "ca", "auth-tls-pass-certificate-to-upstream: true") + asks("other", "other") +
			asks("optional", "ca", "auth-tls-verify-client: optional") + asks("any", "ca", "auth-tls-verify-client: optional_no_ca") +
			asks("lax", "ca", "auth-tls-verify-client: off") + asks("named", "ca", "auth-tls-match-cn: CN=(alice|carol),O=Shop$") +
			asks("given", "ca", "sluice.io/error-status: 495 = 403\n496 = 401") + asks("late", "ca", "sluice.io/error-status: 495 496 = 401", "auth-tls-verify-client: optional") +
			ingress("mixed", "mixed.example", []string{"/ Prefix web", "/free Prefix web"}, "auth-tls-secret: default/ca", "sluice.io/error-status: 495 496 = 401", "sluice.io/paths.auth-tls-verify-client: /free: optional") +
			ingress("plain", "plain.example", []string{"/ Prefix web"}) +
			ingress("ciphers", "ciphers.example", []string{"/ Prefix web"}, "ssl-ciphers: ECDHE-ECDSA-AES128-GCM-SHA256", "ssl-prefer-server-ciphers: false"),
	}
}

// TestClientCertificates asks each host with each kind of certificate, over HTTP/1.1 and
// HTTP/2. What a client says about its certificate never reaches a backend.
func TestClientCertificates(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		ca, other := newClientCA(t), newClientCA(t)
		s := start(t, root, clientHosts(t, ca, other))
		alice, bob, mallory := ca.issue(t, "alice", 2), ca.issue(t, "bob", 3), other.issue(t, "alice", 2)
		s.waitVisit(visitor{sni: "strict.example", certificate: alice}, "strict.example", 200)
		for _, c := range []struct {
			host        string
			certificate *tls.Certificate
			status      int
			verify      string // ssl-client-verify, "" for none
		}{
			{"strict", nil, 400, ""}, {"strict", alice, 200, "SUCCESS"}, {"strict", mallory, 400, ""},
			{"other", alice, 400, ""}, {"other", mallory, 200, "SUCCESS"},
			{"optional", nil, 200, "NONE"}, {"optional", alice, 200, "SUCCESS"}, {"optional", mallory, 400, ""},
			{"any", nil, 200, "NONE"}, {"any", alice, 200, "SUCCESS"}, {"any", mallory, 200, "FAILED"},
			{"lax", nil, 200, "NONE"}, {"lax", alice, 200, "NONE"},
			{"named", nil, 400, ""}, {"named", alice, 200, "SUCCESS"}, {"named", bob, 403, ""}, {"named", mallory, 400, ""},
			{"plain", nil, 200, ""}, {"plain", alice, 200, ""},
			{"given", nil, 401, ""}, {"given", alice, 200, "SUCCESS"}, {"given", mallory, 403, ""},
			{"late", nil, 200, "NONE"}, {"late", alice, 200, "SUCCESS"}, {"late", mallory, 401, ""},
			{"mixed", nil, 401, ""}, {"mixed", alice, 200, "SUCCESS"}, {"mixed", mallory, 401, ""},
		} {
			for _, http1 := range []bool{true, false} {
				host := c.host + ".example"
				forged := http.Header{"Ssl-Client-Verify": {"SUCCESS"}, "Ssl-Client-Subject-Dn": {"CN=root"}, "Ssl-Client-Cert": {"x"}, "Ssl-Client-Issuer-Dn": {"CN=root"}}
				got, err := s.visit(visitor{sni: host, certificate: c.certificate, http1: http1}, host, "/", forged)
				if err != nil || got.status != c.status || got.proto == 1 != http1 {
					t.Errorf("%s, HTTP/1 %v: got %+v, %v; want %d", host, http1, got, err, c.status)
					continue
				}
				if verify, _, _ := strings.Cut(got.header.Get("Ssl-Client-Verify"), ":"); verify != c.verify {
					t.Errorf("%s: ssl-client-verify is %q, want %q", host, verify, c.verify)
				}
				passed := strings.HasPrefix(got.header.Get("Ssl-Client-Cert"), "-----BEGIN%20CERTIFICATE")
				if all := fmt.Sprint(got.header); strings.Contains(all, "CN=root") || passed != (c.host == "strict" && c.status == 200) || !passed && got.header.Get("Ssl-Client-Cert") != "" {
					t.Errorf("%s: the backend got %s", host, all)
				}
			}
		}
		s.waitStatus("http://strict.example/", 308)
	})
}

// TestServerNameAndHostDiffer: a request for a host that verifies its clients, over a
// connection to another host, gets 421, and over one to no host 400: also where HTTP/2
// reuses the connection.
func TestServerNameAndHostDiffer(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		ca, other := newClientCA(t), newClientCA(t)
		s := start(t, root, clientHosts(t, ca, other))
		alice, mallory := ca.issue(t, "alice", 2), other.issue(t, "alice", 2)
		s.waitVisit(visitor{sni: "strict.example", certificate: alice}, "strict.example", 200)
		for _, c := range []struct {
			sni, host   string
			certificate *tls.Certificate
			status      int
		}{
			{"plain.example", "strict.example", nil, 421}, {"plain.example", "strict.example", alice, 421},
			{"other.example", "strict.example", mallory, 421}, {"any.example", "strict.example", mallory, 421}, {"optional.example", "strict.example", alice, 421},
			{"strict.example", "optional.example", alice, 421}, {"lax.example", "strict.example", alice, 421},
			{"", "strict.example", alice, 400}, {"unknown.example", "strict.example", alice, 400}, {"ciphers.example", "strict.example", alice, 421},
			{"strict.example", "plain.example", alice, 200},
		} {
			for _, http1 := range []bool{true, false} {
				got, err := s.visit(visitor{sni: c.sni, certificate: c.certificate, http1: http1}, c.host, "/", nil)
				if err != nil || got.status != c.status || c.status != 200 && got.backend != "" {
					t.Errorf("SNI %q, Host %s, HTTP/1 %v: got %+v, %v; want %d", c.sni, c.host, http1, got, err, c.status)
				}
				if got.header.Get("Ssl-Client-Verify") != "" {
					t.Errorf("SNI %q, Host %s: the backend got %v", c.sni, c.host, got.header)
				}
			}
		}
		kept := s.visiting(visitor{sni: "plain.example"})
		defer kept.CloseIdleConnections()
		for _, c := range []struct {
			host   string
			status int
		}{{"plain.example", 200}, {"strict.example", 421}, {"plain.example", 200}, {"named.example", 421}, {"strict.example", 421}} {
			if got, err := visitOver(kept, c.host, "/", nil); err != nil || got.status != c.status || got.proto != 2 {
				t.Errorf("%s over a kept connection to plain.example: got %+v, %v; want %d", c.host, got, err, c.status)
			}
		}
	})
}

// TestCVE2025_23419: a session that a host established with a client's certificate passes
// at no other host, nor at the same host once the certificate is revoked. The sessions are
// of TLS 1.2 and 1.3, in tickets and in the cache of nginx.
func TestCVE2025_23419(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		for _, tickets := range []string{"true", "false"} {
			ca, other := newClientCA(t), newClientCA(t)
			manifests := clientHosts(t, ca, other)
			manifests["settings.yaml"] = settings(fmt.Sprintf("ssl-session-tickets: %q", tickets))
			s := start(t, root, manifests, "--configmap", "default/config")
			alice, mallory := ca.issue(t, "alice", 2), other.issue(t, "alice", 2)
			s.waitVisit(visitor{sni: "strict.example", certificate: alice}, "strict.example", 200)
			for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
				for _, first := range []string{"other.example", "any.example", "optional.example", "plain.example", "ciphers.example"} {
					certificate := mallory
					if first == "optional.example" {
						certificate = alice
					}
					sessions := &anySession{}
					establish := visitor{sni: first, certificate: certificate, sessions: sessions, version: version, http1: true}
					if got, err := s.visit(establish, first, "/", nil); err != nil || got.status != 200 {
						t.Fatalf("%s: %+v, %v", first, got, err)
					}
					got, err := s.visit(visitor{sni: "strict.example", sessions: sessions, version: version, http1: true}, "strict.example", "/", nil)
					if err == nil && (got.backend != "" || got.status != 400 && got.status != 421) {
						t.Errorf("TLS %x, a session of %s at strict.example: %+v", version, first, got)
					}
				}
				sessions := &anySession{}
				for _, certificate := range []*tls.Certificate{alice, nil} {
					got, err := s.visit(visitor{sni: "strict.example", certificate: certificate, sessions: sessions, version: version, http1: true}, "strict.example", "/", nil)
					if want := map[bool]int{true: 200, false: 400}[certificate != nil]; err != nil || got.resumed || got.status != want {
						t.Errorf("TLS %x, strict.example again: %+v, %v; want %d and no resumption", version, got, err, want)
					}
				}
			}
		}
	})
}

// TestRevokedClientCertificate: a list that arrives later counts from the next connection
// on. One that nothing can read closes the host, and so does a Secret that goes away.
func TestRevokedClientCertificate(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		ca := newClientCA(t)
		s := start(t, root, clientHosts(t, ca, newClientCA(t)))
		alice, bob := ca.issue(t, "alice", 2), ca.issue(t, "bob", 3)
		as := func(certificate *tls.Certificate) visitor {
			return visitor{sni: "strict.example", certificate: certificate}
		}
		with := func(data ...string) {
			s.write("ca.yaml", dataSecret("ca", append([]string{"ca.crt", string(ca.pem)}, data...)...)+dataSecret("other", "ca.crt", string(ca.pem)))
		}
		s.waitVisit(as(bob), "strict.example", 200)
		with("ca.crl", string(ca.revokes(t, 3)))
		s.waitVisit(as(bob), "strict.example", 400)
		s.waitVisit(as(alice), "strict.example", 200)
		with("ca.crl", string(newClientCA(t).revokes(t)))
		s.waitVisit(as(alice), "strict.example", 400) // nginx wants a list of the authority itself
		for _, broken := range []string{"", "nonsense", "-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n", string(ca.pem)} {
			with("ca.crl", broken)
			s.waitVisit(as(alice), "strict.example", 503)
		}
		with()
		s.waitVisit(as(alice), "strict.example", 200)
		s.remove("ca.yaml")
		s.waitVisit(as(alice), "strict.example", 503)
		s.waitStatus("http://strict.example/", 503)
	})
}

// TestCiphersOfHosts: each host has its own ciphers, and the order of them.
func TestCiphersOfHosts(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		s := start(t, root, clientHosts(t, newClientCA(t), newClientCA(t)))
		s.waitBackend("https://plain.example/", "web")
		dial := func(host string, suites ...uint16) (uint16, error) {
			connection, err := tls.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.HTTPS), &tls.Config{ServerName: host, InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12, CipherSuites: suites})
			if err != nil {
				return 0, err
			}
			defer connection.Close()
			return connection.ConnectionState().CipherSuite, nil
		}
		const weak, strong = tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384
		const weakRSA, strongRSA = tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384
		if _, err := dial("plain.example", strong, strongRSA); err != nil {
			t.Errorf("plain.example: %v", err)
		}
		if _, err := dial("ciphers.example", strong, strongRSA); err == nil {
			t.Error("ciphers.example takes a cipher that it has not")
		}
		if suite, err := dial("ciphers.example", strong, weak, weakRSA, strongRSA); suite != weak {
			t.Errorf("ciphers.example: %x, %v", suite, err)
		}
	})
}
