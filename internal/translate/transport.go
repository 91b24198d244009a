package translate

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"sluice/internal/annotations"
	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// caKey is the key of a Secret with the certificate authorities, in PEM.
const caKey = "ca.crt"

// readTransport reads the connection to backends. Verification protects: if it cannot
// be done, paths return 503.
func (t *translation) readTransport(ing *owner, asked *annotations.Transport) *claim.Attached {
	transport := asked.To()
	ing.remarkProtocol(asked)
	if transport == (model.Transport{}) && asked.Secret == "" {
		return nil
	}
	if !transport.TLS {
		if asked.Secret != "" {
			ing.report(ing.field("proxy-ssl-secret"), model.Unread, "it has no effect without "+ing.PrefixKey+"backend-protocol: HTTPS or GRPCS")
		}
		if transport.Protocol == model.FastCGI {
			return t.readFastCGI(ing, asked)
		}
		return &claim.Attached{Transport: transport}
	}
	if asked.Secret == "" {
		return &claim.Attached{Transport: transport}
	}
	verify := asked.Verify == "on"
	if verify || asked.ServerName == "on" {
		transport.Name = asked.Name
	}
	authorities, key, reason, text := t.readTrust(ing, asked)
	if text != "" {
		return ing.refuse(key, reason, text)
	}
	if verify {
		transport.Verify, transport.VerifyDepth, transport.TrustedCA = true, asked.VerifyDepth, authorities
	}
	return &claim.Attached{Transport: transport}
}

// readTrust reads proxy-ssl-secret. A Secret of another namespace needs a delegation.
func (t *translation) readTrust(ing *owner, asked *annotations.Transport) (authorities, key string, reason model.Reason, text string) {
	const secretKey = "proxy-ssl-secret"
	name, err := snapshot.ParseName(asked.Secret)
	if err != nil {
		return "", secretKey, model.InvalidValue, err.Error()
	}
	secret, missing := t.secretFor(ing, name)
	if secret == nil {
		return "", secretKey, model.NotFound, missing
	}
	if len(secret.Data[corev1.TLSCertKey]) > 0 {
		ing.report(ing.field(secretKey), model.Unsupported, "the certificate in tls.crt is not presented to the backends")
	}
	if asked.Verify != "on" {
		return "", "", "", ""
	}
	if asked.Name == "" {
		return "", "proxy-ssl-verify", model.InvalidValue, "want the name that the certificates must have in " + ing.PrefixKey + "proxy-ssl-name (got none)"
	}
	_, chain, err := readChain(secret.Data[caKey])
	if err != nil {
		return "", secretKey, model.InvalidValue, fmt.Sprintf("Secret %s: ca.crt: %v", name, err)
	}
	return strings.TrimSpace(string(chain)) + "\n", "", "", ""
}

// secretFor reads a Secret that an Ingress names. If the Ingress may not use it, secret
// is nil and text has the reason.
func (t *translation) secretFor(ing *owner, name snapshot.Name) (secret *corev1.Secret, text string) {
	secret, text, remarks := t.secret(&ing.reads, name, ing.Ref.Namespace)
	ing.Problems = append(ing.Problems, remarks...)
	return secret, text
}
