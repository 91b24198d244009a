package translate

import (
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

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
		if found.Revoked, found.Until, err = readRevoked(lists); err != nil {
			return nil, fmt.Errorf("%s: %w", revokedKey, err)
		}
	}
	return found, nil
}

// mostRevoked is the maximum size of revocation lists in bytes. Each host with client
// certificates has them in memory, decoded.
const mostRevoked = 512 << 10

// readRevoked returns the revocation lists in PEM text, and when the first of them lapses.
// It drops text between blocks, and other blocks.
func readRevoked(text []byte) (written string, until int64, err error) {
	if len(text) > mostRevoked {
		return "", 0, fmt.Errorf("want at most %d bytes of revocation lists (got %d)", mostRevoked, len(text))
	}
	var lists strings.Builder
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "X509 CRL" {
			continue
		}
		next, ok := readRevocationList(block.Bytes)
		if !ok {
			return "", 0, errors.New("want X.509 revocation lists (got an invalid block)")
		}
		if !next.IsZero() && (until == 0 || next.Unix() < until) {
			until = next.Unix()
		}
		lists.Write(pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes}))
	}
	if lists.Len() == 0 {
		return "", 0, errors.New("want a revocation list in PEM (got none): remove the key to accept every certificate of the authorities")
	}
	return lists.String(), until, nil
}

// readRevocationList checks the outer structure of a list of version 1 or 2, and returns
// the time of its next update, zero for none. x509 of Go reads no version 1, which OpenSSL
// makes by default.
// Source: RFC 5280, section 5.1
func readRevocationList(der []byte) (next time.Time, ok bool) {
	var list struct {
		List struct {
			Version    int `asn1:"optional,default:0"`
			Signature  asn1.RawValue
			Issuer     asn1.RawValue
			ThisUpdate asn1.RawValue
			NextUpdate time.Time `asn1:"optional"`
		}
		Algorithm asn1.RawValue
		Signature asn1.BitString
	}
	rest, err := asn1.Unmarshal(der, &list)
	return list.List.NextUpdate, err == nil && len(rest) == 0
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
