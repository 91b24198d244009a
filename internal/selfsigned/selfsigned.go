// Package selfsigned makes self-signed certificates: the default certificate, and the
// placeholder that nginx needs in its file.
package selfsigned

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"time"

	"sluice/internal/model"
)

// Certificate makes the default certificate, with the names that it has in ingress-nginx.
// It is valid for 365 days, and its key exists in memory only.
func Certificate(now time.Time) (*model.Certificate, error) {
	return sign(now, pkix.Name{CommonName: "Kubernetes Ingress Controller Fake Certificate", Organization: []string{"Acme Co"}}, "ingress.local")
}

// WritePlaceholder writes placeholder.crt and placeholder.key to dir. nginx opens a TLS
// port only with a certificate in its file. It never presents this one.
func WritePlaceholder(dir string, now time.Time) error {
	certificate, err := sign(now, pkix.Name{CommonName: "placeholder, never presented"}, "placeholder.invalid")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "placeholder.crt"), certificate.Chain, 0o644); err != nil {
		return fmt.Errorf("write the placeholder certificate: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "placeholder.key"), certificate.Key, 0o600); err != nil {
		return fmt.Errorf("write the placeholder certificate: %w", err)
	}
	return nil
}

func sign(now time.Time, subject pkix.Name, name string) (*model.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a self-signed certificate: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("make a self-signed certificate: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: subject, DNSNames: []string{name},
		NotBefore: now.Add(-time.Minute), NotAfter: now.Add(365 * 24 * time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("make a self-signed certificate: %w", err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("make a self-signed certificate: %w", err)
	}
	hash := sha256.Sum256(der)
	return &model.Certificate{
		ID:    hex.EncodeToString(hash[:]),
		Chain: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key:   pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}),
	}, nil
}
