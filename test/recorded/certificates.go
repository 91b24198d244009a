package recorded

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"testing"
	"time"
)

// KeyPair is a certificate with its key.
type KeyPair struct {
	leaf        *x509.Certificate
	key         *ecdsa.PrivateKey
	certificate []byte // PEM
	private     []byte // PEM
}

// Sign makes a key and has the signer, or itself, sign its certificate.
func Sign(t *testing.T, signer *KeyPair, template *x509.Certificate) *KeyPair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.NotBefore = time.Now().Add(-48 * time.Hour)
	template.BasicConstraintsValid = true
	if template.NotAfter.IsZero() {
		template.NotAfter = time.Now().Add(24 * time.Hour)
	}
	parent, parentKey := template, key
	if signer != nil {
		parent, parentKey = signer.leaf, signer.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, parentKey)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return &KeyPair{
		leaf: leaf, key: key,
		certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		private:     pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
	}
}

func (k *KeyPair) TLS() tls.Certificate {
	return tls.Certificate{Certificate: [][]byte{k.leaf.Raw}, PrivateKey: k.key}
}

// recorded is the organization of all certificates of the records.
var recorded = []string{"Oracle"}

// authority gives the authority of that name, made at its first use.
func (w *World) authority(name string) *KeyPair {
	w.t.Helper()
	if w.authorities[name] == nil {
		w.authorities[name] = Sign(w.t, nil, &x509.Certificate{Subject: pkix.Name{CommonName: name, Organization: recorded}, IsCA: true, KeyUsage: x509.KeyUsageCertSign})
	}
	return w.authorities[name]
}

func (w *World) putCertificate(c Certificate) {
	w.t.Helper()
	var signer *KeyPair
	if c.CA != "" {
		signer = w.authority(c.CA)
	}
	data := map[string][]byte{}
	if !c.CAOnly {
		pair := Sign(w.t, signer, c.template())
		data["tls.crt"], data["tls.key"] = pair.certificate, pair.private
		if c.Client != "" {
			w.clients[c.Client] = pair
		}
		if c.Echo {
			w.pods.present(pair.TLS())
		}
	}
	switch c.Broken {
	case "crt":
		data["tls.crt"] = []byte("not a certificate")
	case "key":
		data["tls.key"] = []byte("not a key")
	case "mismatch":
		data["tls.key"] = Sign(w.t, nil, c.template()).private
	}
	if c.CAOnly || c.WithCA {
		data["ca.crt"] = signer.certificate
	}
	if c.Secret == "" {
		return
	}
	kind := "kubernetes.io/tls"
	if c.CAOnly {
		kind = "Opaque"
	}
	w.put("Secret", c.Secret, object{"type": kind, "data": data})
}

func (c *Certificate) template() *x509.Certificate {
	name := c.CN
	if name == "" && len(c.Hosts) > 0 {
		name = c.Hosts[0]
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: name, Organization: recorded}, DNSNames: c.Hosts, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if c.Broken == "expired" {
		template.NotAfter = time.Now().Add(-24 * time.Hour)
	}
	return template
}
