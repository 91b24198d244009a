package translate

import (
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"sluice/internal/annotations"
	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/pcre"
	"sluice/internal/snapshot"
)

// revokedKey is the key of a Secret with the revocation lists of its authorities, in PEM.
const revokedKey = "ca.crl"

// readClientCertificates reads the authorities of the certificates of clients.
func (t *translation) readClientCertificates(ing *owner, asked *annotations.ClientCertificates) *claim.Attached {
	const key = "auth-tls-secret"
	if !asked.On() {
		return nil
	}
	name, err := snapshot.ParseName(asked.Secret)
	secret, fault := t.secretAt(ing, key, name, err)
	if fault != nil {
		return ing.refused(fault)
	}
	found, err := clientCAOf(secret)
	if err != nil {
		return ing.refuse(key, model.InvalidValue, fmt.Sprintf("Secret %s: %v", name, err))
	}
	found.Depth = asked.MostDepth()
	return &claim.Attached{ClientCA: found}
}

// clientCAOf reads the authorities in a Secret, and their revocation lists.
func clientCAOf(secret *corev1.Secret) (*model.ClientCA, error) {
	authorities, err := authoritiesOf(secret)
	if err != nil {
		return nil, err
	}
	found := &model.ClientCA{CA: authorities}
	if lists, written := secret.Data[revokedKey]; written {
		if found.Revoked, err = readRevoked(lists); err != nil {
			return nil, fmt.Errorf("%s: %w", revokedKey, err)
		}
	}
	return found, nil
}

// mostRevoked is the maximum size of revocation lists in bytes. Each host with client
// certificates has them in memory, decoded.
const mostRevoked = 512 << 10

// readRevoked returns the revocation lists in PEM text. It drops text between blocks, and
// other blocks.
func readRevoked(text []byte) (string, error) {
	if len(text) > mostRevoked {
		return "", fmt.Errorf("want at most %d bytes of revocation lists (got %d)", mostRevoked, len(text))
	}
	var lists strings.Builder
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "X509 CRL" {
			continue
		}
		if !isRevocationList(block.Bytes) {
			return "", errors.New("want X.509 revocation lists (got an invalid block)")
		}
		lists.Write(pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes}))
	}
	if lists.Len() == 0 {
		return "", errors.New("want a revocation list in PEM (got none): remove the key to accept every certificate of the authorities")
	}
	return lists.String(), nil
}

// isRevocationList checks the outer structure of a list of version 1 or 2. x509 of Go reads
// no version 1, which OpenSSL makes by default.
// Source: RFC 5280, section 5.1
func isRevocationList(der []byte) bool {
	var list struct {
		List struct {
			Version    int `asn1:"optional,default:0"`
			Signature  asn1.RawValue
			Issuer     asn1.RawValue
			ThisUpdate asn1.RawValue
		}
		Algorithm asn1.RawValue
		Signature asn1.BitString
	}
	rest, err := asn1.Unmarshal(der, &list)
	return err == nil && len(rest) == 0
}

// readClientCheck checks the pattern for distinguished names.
func (t *translation) readClientCheck(ing *owner, asked *annotations.ClientCheck) *claim.Attached {
	if asked.Subject == "" {
		return nil
	}
	if fault := wrongSubject(asked.Subject); fault != "" {
		return ing.refuse("auth-tls-match-cn", model.InvalidValue, fmt.Sprintf("want a regular expression (got %s): %s", model.Quoted(asked.Subject), fault))
	}
	return nil
}

// wrongSubject returns the reason why a pattern is not accepted, empty if it is. As in
// ingress-nginx, Go has to accept it too: so it has no look-arounds and no references. A
// named group would set the variable of that name.
func wrongSubject(pattern string) string {
	compiled, err := pcre.Compile(pattern, 0)
	if err == nil {
		_, err = regexp.Compile(pattern)
	}
	switch {
	case err != nil:
		return err.Error()
	case slices.ContainsFunc(compiled.GroupNames(), func(name string) bool { return name != "" }):
		return "a group may have no name"
	}
	return ""
}
