package translate

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"sluice/internal/model"
	"sluice/internal/policy"
	"sluice/internal/snapshot"
)

// caKey is the key of a Secret with the authorities, in PEM.
const caKey = "ca.crt"

// readTransport says how the Ingress's backends are spoken to. What is to
// verify them protects: where it cannot be done, nothing is passed on.
func (t *translation) readTransport(ing *ingress, asked policy.Transport) {
	if !asked.TLS() {
		if asked.Secret != "" {
			ing.report(ing.prefixKey+"proxy-ssl-secret", model.Unread, "it has no effect without "+ing.prefixKey+"backend-protocol: HTTPS")
		}
		return
	}
	ing.transport = model.Transport{TLS: true}
	if asked.Secret == "" {
		return
	}
	verify := asked.Verify == "on"
	if verify || asked.ServerName == "on" {
		ing.transport.Name = asked.Name
	}
	if field, reason, text := t.readTrust(ing, asked); text != "" {
		ing.deny(field, reason, text)
		return
	}
	if verify {
		ing.transport.Verify, ing.transport.VerifyDepth = true, asked.VerifyDepth
	} else {
		ing.transport.TrustedCA = "" // nobody looks at it, and it would divide the pools
	}
}

// deny reports what keeps an Ingress from being served.
func (i *ingress) deny(key string, reason model.Reason, text string) {
	i.denied = true
	i.problems = append(i.problems, model.Problem{Object: i.ref, Field: i.prefixKey + key, Reason: reason, Text: text, Denies: true})
}

// readTrust reads proxy-ssl-secret. One of another namespace has to delegate itself
// to that of the Ingress.
func (t *translation) readTrust(ing *ingress, asked policy.Transport) (key string, reason model.Reason, text string) {
	const secretKey = "proxy-ssl-secret"
	name, err := snapshot.ParseName(asked.Secret)
	if err != nil {
		return secretKey, model.InvalidValue, err.Error()
	}
	ing.trust, ing.trusted = name, t.snap.Secret(name)
	if ing.trusted != nil && name.Namespace != ing.object.Namespace {
		ing.problems = append(ing.problems, misdelegated(ing.trusted)...)
	}
	secret, missing := t.secret(name, ing.object.Namespace)
	if secret == nil {
		return secretKey, model.NotFound, missing
	}
	if len(secret.Data[corev1.TLSCertKey]) > 0 {
		ing.report(ing.prefixKey+secretKey, model.Unsupported, "the certificate in tls.crt is not presented to the backends")
	}
	if asked.Verify != "on" {
		return "", "", ""
	}
	if asked.Name == "" {
		return "proxy-ssl-verify", model.InvalidValue, "want the name that the certificates must have in " + ing.prefixKey + "proxy-ssl-name (got none)"
	}
	_, authorities, err := readChain(secret.Data[caKey])
	if err != nil {
		return secretKey, model.InvalidValue, fmt.Sprintf("Secret %s: ca.crt: %v", name, err)
	}
	ing.transport.TrustedCA = strings.TrimSpace(string(authorities)) + "\n"
	return "", "", ""
}
