package translate

import (
	"crypto"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"sluice/internal/assemble"
	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// keyPair is the certificate and key in a Secret.
type keyPair struct {
	pass uint64
	// certificate is nil if there is a fault.
	certificate *model.Certificate
	// names are those that the certificate is valid for.
	names []string
	// mustStaple is set if clients may refuse the certificate without an OCSP response.
	mustStaple bool
	fault      string
	// tooLong is set if the fault is its size.
	tooLong bool
}

// keyPair returns the key pair in a Secret, and remembers it.
func (t *translation) keyPair(secret *corev1.Secret) *keyPair {
	pair := t.memo.secrets[secret]
	if pair == nil {
		pair = readKeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
		if pair.certificate != nil {
			pair.certificate.Namespace, pair.certificate.Name = secret.Namespace, secret.Name
		}
		t.memo.secrets[secret] = pair
	}
	t.memo.use(&pair.pass, &t.memo.used.secrets)
	return pair
}

// readKeyPair checks that a certificate and a key belong together. The fault contains
// no part of them.
func readKeyPair(chain, key []byte) *keyPair {
	leaf, chainPEM, err := readChain(chain)
	if err != nil {
		return &keyPair{fault: "tls.crt: " + err.Error(), tooLong: errors.As(err, new(tooLong))}
	}
	public, keyPEM, err := readKey(key)
	if err != nil {
		return &keyPair{fault: "tls.key: " + err.Error(), tooLong: errors.As(err, new(tooLong))}
	}
	if !public.Equal(leaf.PublicKey) {
		return &keyPair{fault: "tls.key: want the key of the first certificate in tls.crt (got another one)"}
	}
	sum := sha256.New()
	sum.Write(chainPEM)
	sum.Write(keyPEM)
	responder := ""
	if len(leaf.OCSPServer) > 0 {
		responder = leaf.OCSPServer[0]
	}
	return &keyPair{
		certificate: &model.Certificate{ID: hex.EncodeToString(sum.Sum(nil)), Chain: chainPEM, Key: keyPEM, Responder: responder},
		mustStaple:  demandsStaple(leaf),
		names:       namesOf(leaf),
	}
}

// mostPEM is the maximum size in bytes of a chain, and of a key: each worker of nginx
// reads them, and others lack the room that they take.
const mostPEM = 64 << 10

// tooLong is the error for a chain or key beyond mostPEM.
type tooLong struct {
	what string
	size int
}

func (e tooLong) Error() string {
	return fmt.Sprintf("want at most %d bytes of %s (got %d)", mostPEM, e.what, e.size)
}

// readChain returns the certificates in PEM text. The first block must be a
// certificate; text between blocks and other blocks are dropped.
func readChain(text []byte) (leaf *x509.Certificate, chain []byte, err error) {
	if len(text) == 0 {
		return nil, nil, errors.New("want a certificate in PEM (got nothing)")
	}
	size := 0
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" && size > mostPEM {
			size += len(pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes}))
			continue
		}
		if block.Type != "CERTIFICATE" {
			if leaf == nil {
				return nil, nil, errors.New("want a certificate as the first block of PEM (got another block)")
			}
			continue
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, nil, errors.New("want X.509 certificates (got an invalid block)")
		}
		if leaf == nil {
			leaf = certificate
		}
		chain = append(chain, pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes})...)
		size = len(chain)
	}
	if size > mostPEM {
		return nil, nil, tooLong{"certificates", size}
	}
	if leaf == nil {
		return nil, nil, errors.New("want a certificate in PEM (got no block of PEM)")
	}
	return leaf, chain, nil
}

// publicKey is the common method of the public keys of crypto/rsa, ecdsa and ed25519.
type publicKey interface {
	Equal(x crypto.PublicKey) bool
}

// readKey returns the private key in PEM text, and its public key. It skips parameters
// before it.
func readKey(text []byte) (public publicKey, key []byte, err error) {
	if len(text) == 0 {
		return nil, nil, errors.New("want a private key in PEM (got nothing)")
	}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "PRIVATE KEY" && !strings.HasSuffix(block.Type, " PRIVATE KEY") {
			continue
		}
		public := publicOf(block.Bytes)
		if public == nil {
			return nil, nil, errors.New("want an unencrypted private key of RSA, ECDSA or Ed25519 (got something else)")
		}
		key := pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes})
		if len(key) > mostPEM {
			return nil, nil, tooLong{"a private key", len(key)}
		}
		return public, key, nil
	}
	return nil, nil, errors.New("want a private key in PEM (got none)")
}

// publicOf returns the public key of a private key in any usual encoding, nil if there
// is none.
func publicOf(der []byte) publicKey {
	if key, err := x509.ParsePKCS1PrivateKey(der); err == nil {
		return &key.PublicKey
	}
	if key, err := x509.ParseECPrivateKey(der); err == nil {
		return &key.PublicKey
	}
	key, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil
	}
	public, _ := signer.Public().(publicKey)
	return public
}

// namesOf returns the DNS names of a certificate: the alternative names or, without
// any, the common name, as in ingress-nginx.
func namesOf(leaf *x509.Certificate) []string {
	if len(leaf.DNSNames) > 0 || leaf.Subject.CommonName == "" {
		return leaf.DNSNames
	}
	return []string{leaf.Subject.CommonName}
}

// defaultCertificate returns the certificate of names without one, nil for none.
func (t *translation) defaultCertificate() *model.Certificate {
	name := t.options.DefaultCertificate
	if name == (snapshot.Name{}) {
		return t.options.FallbackCertificate
	}
	problem := model.Problem{Object: refTo(kindSecret, name), Reason: model.NotFound,
		Text: "it does not exist and is to hold the default certificate: a self-signed one is presented"}
	secret := t.snap.Secret(name)
	if secret == nil {
		if t.snap.Forbids(problem.Object) {
			problem.Text = noPermission(name) + "; a self-signed default certificate is presented"
		}
		t.report(problem)
		return t.options.FallbackCertificate
	}
	pair := t.keyPair(secret)
	t.report(t.unstapled(pair, name)...)
	if pair.certificate == nil {
		problem.Reason, problem.Text = model.InvalidValue, pair.fault+"; a self-signed default certificate is presented"
		t.report(problem)
		return t.options.FallbackCertificate
	}
	return pair.certificate
}

// presentation is a Presented with its sources.
type presentation struct {
	pass  uint64
	reads reads
	pair  *corev1.Secret // the Secret with the key pair, nil for none
	found *assemble.Presented
}

type secretUse struct {
	name      snapshot.Name
	namespace string
}

// Certificate returns the certificate in a Secret for owners of a namespace, or the
// reason why there is none. The pointer changes with the content.
func (t *translation) Certificate(name snapshot.Name, namespace string) *assemble.Presented {
	use := secretUse{name, namespace}
	p := t.memo.presentations[use]
	if p == nil || p.reads.outdated(t.snap) {
		p = &presentation{}
		p.found = t.present(p, name, namespace)
		t.memo.presentations[use] = p
	}
	if t.memo.use(&p.pass, &t.memo.used.presentations) && p.pair != nil {
		t.keyPair(p.pair)
	}
	return p.found
}

func (t *translation) present(p *presentation, name snapshot.Name, namespace string) *assemble.Presented {
	secret, missing, remarks := t.secret(&p.reads, name, namespace)
	if secret == nil {
		return &assemble.Presented{Reason: model.NotFound, Fault: missing, Remarks: remarks}
	}
	p.pair = secret
	pair := t.keyPair(secret)
	if pair.tooLong {
		remarks = append(remarks, model.Problem{Object: refTo(kindSecret, name), Reason: model.NoRoom, Text: pair.fault + ": its certificate is not presented"})
	}
	remarks = append(remarks, t.unstapled(pair, name)...)
	found := &assemble.Presented{Certificate: pair.certificate, Names: pair.names, Remarks: remarks}
	if pair.certificate == nil {
		found.Reason, found.Fault = model.InvalidValue, fmt.Sprintf("Secret %s: %s", claim.Shown(name.String()), pair.fault)
	}
	return found
}
