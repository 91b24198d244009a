// Package certificate keeps the serving certificate of the admission webhook in a Secret that all
// replicas share, and its authorities in the ValidatingWebhookConfiguration, so that nobody has to
// make or renew them by hand. In go the names of these objects; out come the certificate to present
// and, if something is missing, lines of the log.
//
//	keeper := certificate.New(certificate.Options{Client: client, Secret: secret, Service: service, Configuration: "sluice", Log: log})
//	go keeper.Run(ctx)
//	server := webhook.New(webhook.Options{Certificate: keeper.Certificate})
package certificate

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"
)

// The keys of the Secret.
const (
	chainKey       = "tls.crt"
	privateKey     = "tls.key"
	authoritiesKey = "ca.crt"
)

const (
	// life is how long a certificate is valid; it is renewed after two thirds of that.
	life = 90 * 24 * time.Hour
	// skew is how much the clocks of API servers may be behind ours.
	skew = time.Hour
	// mostAuthorities bounds the bundle, whatever a Secret holds.
	mostAuthorities = 5
)

// Pair is a certificate with its key, and the authorities that reviews are to be sent with: its own,
// and those of former certificates that other replicas may still present.
type Pair struct {
	served      *tls.Certificate
	authorities []byte // PEM, the newest first
	data        map[string][]byte
}

// Make returns a new Pair for the DNS names of a Service. Its authority signs this one certificate
// only: the authority's key is thrown away, so that nobody can steal it. The valid authorities of
// former, in PEM, are kept.
func Make(names []string, now time.Time, former []byte) (*Pair, error) {
	authority, authorityKey, err := sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: "Sluice admission webhook authority"}, IsCA: true, MaxPathLenZero: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, PermittedDNSDomainsCritical: true, PermittedDNSDomains: names,
	}, nil, nil, now)
	if err != nil {
		return nil, err
	}
	served, key, err := sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: "Sluice admission webhook"}, DNSNames: names,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
	}, authority, authorityKey, now)
	if err != nil {
		return nil, err
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate for the admission webhook: %w", err)
	}
	return Parse(map[string][]byte{
		chainKey:       encode(served),
		privateKey:     pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}),
		authoritiesKey: bundle(now, append(encode(authority), former...)),
	}, names, now)
}

// sign makes a key for a template, and signs its certificate by an authority, or by itself if that
// is nil.
func sign(template, authority *x509.Certificate, authorityKey *ecdsa.PrivateKey, now time.Time) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	failed := func(err error) (*x509.Certificate, *ecdsa.PrivateKey, error) {
		return nil, nil, fmt.Errorf("make a certificate for the admission webhook: %w", err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return failed(err)
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)); err != nil {
		return failed(err)
	}
	template.NotBefore, template.NotAfter = now.Add(-skew), now.Add(life)
	if authority == nil {
		authority, authorityKey = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, authority, &key.PublicKey, authorityKey)
	if err != nil {
		return failed(err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		return failed(err)
	}
	return made, key, nil
}

// Parse returns the Pair that a Secret holds. The error says why it cannot be presented at that time
// for these names.
func Parse(data map[string][]byte, names []string, now time.Time) (*Pair, error) {
	served, err := tls.X509KeyPair(data[chainKey], data[privateKey])
	if err != nil {
		return nil, fmt.Errorf("want a certificate in %s and its key in %s, both in PEM: %w", chainKey, privateKey, err)
	}
	roots := x509.NewCertPool()
	for _, authority := range authoritiesIn(data[authoritiesKey], now) {
		roots.AddCert(authority)
	}
	for _, name := range names {
		if _, err := served.Leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: roots, CurrentTime: now}); err != nil {
			return nil, fmt.Errorf("want in %s a certificate of an authority in %s: %w", chainKey, authoritiesKey, err)
		}
	}
	return &Pair{served: &served, authorities: data[authoritiesKey], data: data}, nil
}

// Data is the content of the Secret.
func (p *Pair) Data() map[string][]byte {
	return map[string][]byte{chainKey: p.data[chainKey], privateKey: p.data[privateKey], authoritiesKey: p.authorities}
}

// Authorities are those that reviews are to be sent with, in PEM.
func (p *Pair) Authorities() []byte { return p.authorities }

// due returns when the certificate is to be renewed.
func (p *Pair) due() time.Time {
	of := p.served.Leaf
	return of.NotBefore.Add(of.NotAfter.Sub(of.NotBefore) * 2 / 3)
}

// is reports whether both present the same certificate.
func (p *Pair) is(other *Pair) bool {
	return p != nil && other != nil && p.served.Leaf.Equal(other.served.Leaf)
}

// bundle returns the authorities in a text of PEM that are valid, each once, up to mostAuthorities.
func bundle(now time.Time, text []byte) []byte {
	var all []byte
	for _, authority := range authoritiesIn(text, now) {
		all = append(all, encode(authority)...)
	}
	return all
}

// authoritiesIn returns the valid authorities in a text of PEM. Whatever else it holds is left out.
func authoritiesIn(text []byte, now time.Time) (found []*x509.Certificate) {
	seen := map[string]bool{}
	for len(found) < mostAuthorities {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			break
		}
		authority, err := x509.ParseCertificate(block.Bytes)
		if err != nil || !authority.IsCA || now.After(authority.NotAfter) || seen[string(authority.Raw)] {
			continue
		}
		seen[string(authority.Raw)] = true
		found = append(found, authority)
	}
	return found
}

// hasAll reports whether a bundle has all the valid ones of some authorities.
func hasAll(bundle, authorities []byte, now time.Time) bool {
	there := authoritiesIn(bundle, now)
	for _, one := range authoritiesIn(authorities, now) {
		if !slices.ContainsFunc(there, one.Equal) {
			return false
		}
	}
	return true
}

func encode(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}

// isEmpty reports whether a Secret holds nothing yet, as the chart makes it.
func isEmpty(data map[string][]byte) bool {
	return len(bytes.Join([][]byte{data[chainKey], data[privateKey], data[authoritiesKey]}, nil)) == 0
}

var errNone = errors.New("the admission webhook has no certificate yet")
