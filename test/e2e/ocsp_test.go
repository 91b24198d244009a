package e2e

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice/test/kit"
)

// ocspCA signs certificates that name its responder, which is `openssl ocsp`.
type ocspCA struct {
	t           *testing.T
	dir         string
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	responding  sync.Mutex
	// statuses are the lines of the index of openssl, by serial number.
	statuses  map[int64]string
	asked     atomic.Int64
	responder string // its URL
}

// newOCSPCA starts the responder at an address of this machine that is not loopback, because
// Sluice asks no other.
func newOCSPCA(t *testing.T) *ocspCA {
	t.Helper()
	own := kit.OwnAddress(t)
	if own == "" {
		t.Skip("this machine has no address but its loopback")
	}
	pair := newKeyPair(t, 1, "authority.example")
	c := &ocspCA{t: t, dir: t.TempDir(), statuses: map[int64]string{}}
	block, _ := pem.Decode(pair.certificate)
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	keyBlock, _ := pem.Decode(pair.key)
	key, err := x509.ParsePKCS8PrivateKey(keyBlock.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	c.certificate, c.key = certificate, key.(*ecdsa.PrivateKey)
	c.write("ca.pem", pair.certificate)
	c.write("ca.key", pair.key)
	listener, err := net.Listen("tcp", net.JoinHostPort(own, "0"))
	if err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: http.HandlerFunc(c.respond)}}
	server.Start()
	t.Cleanup(server.Close)
	c.responder = server.URL
	return c
}

func (c *ocspCA) write(name string, content []byte) {
	if err := os.WriteFile(filepath.Join(c.dir, name), content, 0o600); err != nil {
		c.t.Error(err)
	}
}

// respond has openssl answer a request.
func (c *ocspCA) respond(w http.ResponseWriter, r *http.Request) {
	c.asked.Add(1)
	c.responding.Lock()
	defer c.responding.Unlock()
	request, response := filepath.Join(c.dir, "request.der"), filepath.Join(c.dir, "response.der")
	var body bytes.Buffer
	_, _ = body.ReadFrom(r.Body)
	c.write("request.der", body.Bytes())
	var index strings.Builder
	for _, line := range c.statuses {
		index.WriteString(line)
	}
	c.write("index.txt", []byte(index.String()))
	out, err := exec.Command("openssl", "ocsp", "-index", filepath.Join(c.dir, "index.txt"), "-CA", filepath.Join(c.dir, "ca.pem"),
		"-rsigner", filepath.Join(c.dir, "ca.pem"), "-rkey", filepath.Join(c.dir, "ca.key"), "-reqin", request, "-respout", response, "-nmin", "60").CombinedOutput()
	if err != nil {
		c.t.Errorf("openssl ocsp: %v: %s", err, out)
	}
	answer, err := os.ReadFile(response)
	if err != nil {
		c.t.Error(err)
	}
	_, _ = w.Write(answer)
}

// issue returns a certificate for a host, with the chain, that the responder says is good.
func (c *ocspCA) issue(serial int64, host string, more ...pkix.Extension) keyPair {
	c.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		c.t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host}, ExtraExtensions: more,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), OCSPServer: []string{c.responder},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, c.certificate, &key.PublicKey, c.key)
	if err != nil {
		c.t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		c.t.Fatal(err)
	}
	c.says(serial, "V\t491231235959Z\t\t%02X\tunknown\t/CN=%[1]d\n")
	return keyPair{
		certificate: append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.certificate.Raw})...),
		key:         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}),
	}
}

// says sets the line of the index for a serial number.
func (c *ocspCA) says(serial int64, line string) {
	c.responding.Lock()
	defer c.responding.Unlock()
	c.statuses[serial] = fmt.Sprintf(line, serial)
}

// stapled asks a host as `openssl s_client -status` does, and returns the status of the
// certificate in the response, "none" without one.
func (s *sluice) stapled(host string, options ...string) string {
	s.t.Helper()
	command := exec.Command("openssl", append([]string{"s_client", "-connect", fmt.Sprintf("127.0.0.1:%d", s.HTTPS), "-servername", host}, options...)...)
	out, _ := command.CombinedOutput()
	switch text := string(out); {
	case strings.Contains(text, "Cert Status: good"):
		return "good"
	case strings.Contains(text, "OCSP response: no response sent"):
		return "none"
	case strings.Contains(text, "OCSP"):
		return text
	case strings.Contains(text, "BEGIN CERTIFICATE"):
		return "not asked"
	default:
		return text
	}
}

// TestOCSPStapling: the response that openssl ocsp signed is stapled for clients that ask, on
// hosts with the shared TLS context and with their own, and in each version of TLS. Neither
// the first response nor one for a new certificate needs a reload.
func TestOCSPStapling(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		ca, web := newOCSPCA(t), backend(t, "web")
		clients := newClientCA(t)
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "settings.yaml": settings(`enable-ocsp: "true"`),
			"ca.yaml": dataSecret("clients", "ca.crt", string(clients.pem)),
			"secrets.yaml": secret("a", ca.issue(0x11, "a.example")) + secret("own", ca.issue(0x12, "own.example")) + secret("asks", ca.issue(0x13, "asks.example")) +
				secret("plain", newKeyPair(t, 0x14, "plain.example")),
			"a.yaml":    withTLS(ingress("a", "a.example", []string{"/ Prefix web"}), "a", "a.example"),
			"own.yaml":  withTLS(ingress("own", "own.example", []string{"/ Prefix web"}, "ssl-ciphers: ECDHE-ECDSA-AES128-GCM-SHA256"), "own", "own.example"),
			"asks.yaml": withTLS(ingress("asks", "asks.example", []string{"/ Prefix web"}, "auth-tls-secret: default/clients", "auth-tls-verify-client: optional"), "asks", "asks.example"),
			"p.yaml":    withTLS(ingress("plain", "plain.example", []string{"/ Prefix web"}), "plain", "plain.example"),
		}, "--configmap", "default/config")
		before := s.reloads()
		for _, host := range []string{"a.example", "own.example", "asks.example"} {
			for _, version := range []string{"-tls1_2", "-tls1_3"} {
				eventually(t, host+" with "+version+" is stapled", func() bool { return s.stapled(host, "-status", version) == "good" })
				if got := s.stapled(host, version); got != "not asked" {
					t.Errorf("%s with %s: %s for a client that does not ask", host, version, got)
				}
			}
		}
		if got := s.stapled("plain.example", "-status"); got != "none" {
			t.Errorf("a certificate without a responder: %s", got)
		}
		asked := ca.asked.Load()
		s.write("a.yaml", withTLS(ingress("a", "a.example", []string{"/ Prefix web"}), "next", "a.example"))
		s.write("next.yaml", secret("next", ca.issue(0x21, "a.example")))
		eventually(t, "the next certificate", s.presents("a.example", 0x21))
		eventually(t, "the response for the next certificate", func() bool { return s.stapled("a.example", "-status") == "good" })
		s.noReloadSince(before, "responses")
		if asked != 3 || ca.asked.Load() != 4 {
			t.Errorf("the responder was asked %d and then %d times, want 3 and 4: once for each certificate", asked, ca.asked.Load())
		}
		s.write("settings.yaml", settings(`enable-ocsp: "false"`))
		eventually(t, "no response without the setting", func() bool { return s.stapled("a.example", "-status") == "none" })
	})
}

// TestOCSPWithoutAResponse: a certificate is presented without a response if its responder is
// on this machine, or says that it is revoked. Its Secret has the Problem.
func TestOCSPWithoutAResponse(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		ca, web := newOCSPCA(t), backend(t, "web")
		revoked := ca.issue(0x31, "revoked.example")
		ca.says(0x31, "R\t491231235959Z\t250101000000Z\t%02X\tunknown\t/CN=%[1]d\n")
		url := ca.responder
		ca.responder = fmt.Sprintf("http://127.0.0.1:%d/", portOf(web))
		local := ca.issue(0x32, "local.example")
		ca.responder = url
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "settings.yaml": settings(`enable-ocsp: "true"`),
			"secrets.yaml": secret("revoked", revoked) + secret("local", local),
			"r.yaml":       withTLS(ingress("revoked", "revoked.example", []string{"/ Prefix web"}), "revoked", "revoked.example"),
			"l.yaml":       withTLS(ingress("local", "local.example", []string{"/ Prefix web"}), "local", "local.example"),
		}, "--configmap", "default/config")
		s.waitLine("its certificate is presented without an OCSP response: the responder says that the certificate is revoked")
		s.waitLine("its certificate is presented without an OCSP response: the responder is at an address where Sluice asks nobody")
		for host, serial := range map[string]int64{"revoked.example": 0x31, "local.example": 0x32} {
			eventually(t, host, s.presents(host, serial))
			if got := s.stapled(host, "-status"); got != "none" {
				t.Errorf("%s: %s", host, got)
			}
		}
	})
}
