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

// keyPair is what a Secret of a server's certificate holds.
type keyPair struct {
	pass uint64
	// certificate is nil if fault says what is wrong.
	certificate *model.Certificate
	// names are those that the certificate is for.
	names []string
	fault string
	// tooLong is set if the fault is its size.
	tooLong bool
}

// keyPair reads a Secret, or finds it as it was read before.
func (t *translation) keyPair(secret *corev1.Secret) *keyPair {
	pair := t.memo.secrets[secret]
	if pair == nil {
		pair = readKeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
		t.memo.secrets[secret] = pair
	}
	if pair.pass != t.memo.pass {
		pair.pass = t.memo.pass
		t.memo.used.secrets++
	}
	return pair
}

// readKeyPair checks that a certificate and a key can be used together. The
// fault never holds anything of the content.
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
	return &keyPair{
		certificate: &model.Certificate{ID: hex.EncodeToString(sum.Sum(nil)), Chain: chainPEM, Key: keyPEM},
		names:       namesOf(leaf),
	}
}

// mostPEM is the most bytes of a chain, and of a key, that are taken: each worker
// of nginx reads them, and what they take is lacking for others.
const mostPEM = 64 << 10

// tooLong says how many bytes there are of something.
type tooLong struct {
	what string
	size int
}

func (e tooLong) Error() string {
	return fmt.Sprintf("want at most %d bytes of %s (got %d)", mostPEM, e.what, e.size)
}

// readChain takes the certificates out of PEM text. The first block must be
// one; what stands between blocks is dropped.
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
			return nil, nil, errors.New("want certificates of X.509 (got a block that is none)")
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

// publicKey is what the keys of crypto/rsa, ecdsa and ed25519 give.
type publicKey interface {
	Equal(x crypto.PublicKey) bool
}

// readKey takes the private key out of PEM text. Parameters before it are
// skipped.
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
			return nil, nil, errors.New("want a private key of RSA, ECDSA or Ed25519 that is not encrypted (got something else)")
		}
		key := pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes})
		if len(key) > mostPEM {
			return nil, nil, tooLong{"a private key", len(key)}
		}
		return public, key, nil
	}
	return nil, nil, errors.New("want a private key in PEM (got none)")
}

// publicOf gives the public half of a key in any of the usual encodings, or nil.
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

// namesOf gives the DNS names of a certificate: the alternative names, or the
// common name where there are none, as ingress-nginx has it.
func namesOf(leaf *x509.Certificate) []string {
	if len(leaf.DNSNames) > 0 || leaf.Subject.CommonName == "" {
		return leaf.DNSNames
	}
	return []string{leaf.Subject.CommonName}
}

// defaultCertificate gives the certificate of names that have none, or nil.
func (t *translation) defaultCertificate() *model.Certificate {
	name := t.options.DefaultCertificate
	if name == (snapshot.Name{}) {
		return t.options.FallbackCertificate
	}
	problem := model.Problem{Object: model.ObjectRef{Kind: "Secret", Namespace: name.Namespace, Name: name.Name}, Reason: model.NotFound,
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
	if pair.certificate == nil {
		problem.Reason, problem.Text = model.InvalidValue, pair.fault+"; a self-signed default certificate is presented"
		t.report(problem)
		return t.options.FallbackCertificate
	}
	return pair.certificate
}

// presentation is what a Secret gives to owners of a namespace, with the Secret.
type presentation struct {
	pass  uint64
	reads reads
	pair  *corev1.Secret // whose key pair it is, nil for none
	found *assemble.Presented
}

type secretUse struct {
	name      snapshot.Name
	namespace string
}

// Certificate gives the certificate in a Secret to owners of a namespace, or says why
// there is none. What did not change is the same pointer.
func (t *translation) Certificate(name snapshot.Name, namespace string) *assemble.Presented {
	use := secretUse{name, namespace}
	p := t.memo.presentations[use]
	if p == nil || p.reads.outdated(t.snap) {
		p = &presentation{}
		p.found = t.present(p, name, namespace)
		t.memo.presentations[use] = p
	}
	if p.pass != t.memo.pass {
		p.pass = t.memo.pass
		t.memo.used.presentations++
		if p.pair != nil {
			t.keyPair(p.pair)
		}
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
		remarks = append(remarks, model.Problem{Object: model.ObjectRef{Kind: "Secret", Namespace: name.Namespace, Name: name.Name}, Reason: model.NoRoom, Text: pair.fault + ": its certificate is not presented"})
	}
	found := &assemble.Presented{Certificate: pair.certificate, Names: pair.names, Remarks: remarks}
	if pair.certificate == nil {
		found.Reason, found.Fault = model.InvalidValue, fmt.Sprintf("Secret %s: %s", claim.Shown(name.String()), pair.fault)
	}
	return found
}
