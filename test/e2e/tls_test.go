package e2e

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// keyPair is a self-signed certificate made for a test.
type keyPair struct{ certificate, key []byte }

// newKeyPair makes a certificate for some names; serial tells two apart.
func newKeyPair(t *testing.T, serial int64, names ...string) keyPair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return pairOf(t, key, serial, names)
}

// rsaPair is newKeyPair with a key of RSA.
func rsaPair(t *testing.T, serial int64, names ...string) keyPair {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return pairOf(t, key, serial, names)
}

func pairOf(t *testing.T, key crypto.Signer, serial int64, names []string) keyPair {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: names[0]}, DNSNames: names,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return keyPair{
		certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		key:         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}),
	}
}

// secret gives a TLS Secret.
func secret(name string, pair keyPair) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {name: %s, namespace: default}\ntype: kubernetes.io/tls\ndata:\n  tls.crt: %s\n  tls.key: %s\n---\n",
		name, base64.StdEncoding.EncodeToString(pair.certificate), base64.StdEncoding.EncodeToString(pair.key))
}

// withTLS adds spec.tls to an Ingress made by ingress.
func withTLS(manifest, secret string, hosts ...string) string {
	manifest = strings.TrimSuffix(manifest, "---\n")
	return manifest + fmt.Sprintf("  tls: [{secretName: %s, hosts: [%q]}]\n---\n", secret, strings.Join(hosts, `", "`))
}

// presents asks a host by SNI and compares the serial number presented.
func (s *sluice) presents(host string, serial int64) func() bool {
	return func() bool {
		a, err := s.get("https://" + host + "/")
		return err == nil && a.presented != nil && a.presented.SerialNumber.Int64() == serial
	}
}

// TestCertificatesBySNI: an exact name beats a wildcard, a wildcard takes one
// label, and everything else gets the default certificate.
func TestCertificatesBySNI(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web),
			"secrets.yaml": secret("exact", newKeyPair(t, 11, "a.shop.example")) +
				secret("wild", newKeyPair(t, 12, "*.shop.example")) + secret("default", newKeyPair(t, 13, "default.example")),
			"a.yaml": withTLS(ingress("a", "a.shop.example", []string{"/ Prefix web"}), "exact", "a.shop.example"),
			"w.yaml": withTLS(ingress("w", "*.shop.example", []string{"/ Prefix web"}), "wild", "*.shop.example"),
		}, "--default-ssl-certificate", "default/default")
		eventually(t, "the exact certificate", s.presents("a.shop.example", 11))
		eventually(t, "the wildcard certificate", s.presents("b.shop.example", 12))
		eventually(t, "the default certificate", s.presents("x.y.shop.example", 13))
		eventually(t, "the default certificate", s.presents("other.example", 13))
		s.waitBackend("https://a.shop.example/", "web")
		s.waitBackend("https://b.shop.example/", "web")
		s.waitStatus("http://a.shop.example/", 308)
	})
}

// TestCertificateRotatedWithoutReload: the new certificate is presented and
// nginx was not reloaded.
func TestCertificateRotatedWithoutReload(t *testing.T) {
	eachNginxAlone(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "secret.yaml": secret("cert", newKeyPair(t, 1, "a.example")),
			"a.yaml": withTLS(ingress("a", "a.example", []string{"/ Prefix web"}), "cert", "a.example"),
		})
		eventually(t, "the first certificate", s.presents("a.example", 1))
		before, load := s.reloads(), s.generate("https://a.example/", 4)
		for serial := int64(2); serial < 8; serial++ {
			s.write("secret.yaml", secret("cert", newKeyPair(t, serial, "a.example")))
			eventually(t, fmt.Sprintf("certificate %d", serial), s.presents("a.example", serial))
		}
		load.none(t)
		s.noReloadSince(before, "six rotations")
	})
}

// TestCertificateOfFormerOwner: once a host is served for another Ingress, its former certificate
// is presented no more.
func TestCertificateOfFormerOwner(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web, other := backend(t, "web"), backend(t, "other")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web) + service("other", other),
			"secrets.yaml": secret("own", newKeyPair(t, 11, "a.example")) + secret("default", newKeyPair(t, 13, "default.example")),
			"a.yaml":       withTLS(ingress("a", "a.example", []string{"/ Prefix web"}), "own", "a.example"),
		}, "--default-ssl-certificate", "default/default")
		eventually(t, "the certificate of the first Ingress", s.presents("a.example", 11))
		s.write("a.yaml", ingress("b", "a.example", []string{"/ Prefix other"}))
		s.waitBackend("http://a.example/", "other")
		s.settle()
		a, err := s.get("https://a.example/")
		if err != nil || a.presented.SerialNumber.Int64() != 13 {
			t.Errorf("the certificate %v is presented (%v), want that of the default", a.presented.SerialNumber, err)
		}
	})
}

// TestPrivateKeyNeverOnDisk looks for the keys in everything that was written.
func TestPrivateKeyNeverOnDisk(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		pair := newKeyPair(t, 1, "a.example")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "secret.yaml": secret("cert", pair),
			"a.yaml": withTLS(ingress("a", "a.example", []string{"/ Prefix web"}), "cert", "a.example"),
		})
		eventually(t, "the certificate", s.presents("a.example", 1))
		block, _ := pem.Decode(pair.key)
		lines := bytes.Split(bytes.TrimSpace(pair.key), []byte("\n"))
		needles := [][]byte{lines[1], block.Bytes, []byte(base64.StdEncoding.EncodeToString(pair.key))[:60]}
		files := 0
		err := filepath.WalkDir(s.State, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			content, err := os.ReadFile(path)
			files++
			for _, needle := range needles {
				if bytes.Contains(content, needle) {
					t.Errorf("%s holds the private key", path)
				}
			}
			return err
		})
		if err != nil || files < 5 {
			t.Fatalf("looked at %d files: %v", files, err)
		}
		for _, line := range s.lines("") {
			if strings.Contains(line, string(lines[1])) {
				t.Error("the log holds the private key")
			}
		}
	})
}
