package effects

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"strings"
	"sync"
	"time"
)

// Certificate is one that signs itself: for clients, and for nginx towards the Services.
type Certificate struct {
	tls.Certificate
	// PEM and Key are files.
	PEM, Key string
}

// Ann returns the certificate of a client with the name CN=ann.
var Ann = sync.OnceValue(func() *Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ann"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(24 * time.Hour), BasicConstraintsValid: true, IsCA: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		panic(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		panic(err)
	}
	return &Certificate{
		Certificate: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		PEM:         string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		Key:         string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})),
	}
})

// literal returns the lines of a file for a manifest, below a key with two spaces before it.
func literal(file string) string {
	return "|\n    " + strings.ReplaceAll(strings.TrimSpace(file), "\n", "\n    ")
}
