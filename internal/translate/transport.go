package translate

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"sluice/internal/annotations"
	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// caKey is the key of a Secret with the certificate authorities, in PEM.
const caKey = "ca.crt"

// readTransport reads the connection to backends. Verification and the certificate for the
// backends protect: if they cannot be had, paths return 503.
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
	transport.Ciphers, transport.Protocols = asked.Ciphers, strings.Join(slices.Sorted(slices.Values(asked.Protocols)), " ")
	trust, fault := t.readTrust(ing, asked)
	if fault != nil {
		return ing.refused(fault)
	}
	if verify {
		transport.Verify, transport.VerifyDepth, transport.TrustedCA = true, asked.VerifyDepth, trust.authorities
	}
	if trust.certificate != nil {
		transport.Certificate = trust.certificate.ID
	}
	return &claim.Attached{Transport: transport, Certificate: trust.certificate}
}

// proxySecretKey is the annotation with the Secret for backends, without its prefix.
const proxySecretKey = "proxy-ssl-secret"

// trust is the content of the Secret for backends. certificate is nil for none.
type trust struct {
	authorities string
	certificate *model.Certificate
}

// readTrust reads proxy-ssl-secret. A Secret of another namespace needs a delegation.
func (t *translation) readTrust(ing *owner, asked *annotations.Transport) (trust, *refusal) {
	name, err := snapshot.ParseName(asked.Secret)
	secret, fault := t.secretAt(ing, proxySecretKey, name, err)
	if fault != nil {
		return trust{}, fault
	}
	var found trust
	if len(secret.Data[corev1.TLSCertKey]) > 0 {
		pair := readKeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
		if pair.certificate == nil {
			return trust{}, &refusal{proxySecretKey, model.InvalidValue, fmt.Sprintf("Secret %s: %s", name, pair.fault)}
		}
		found.certificate = pair.certificate
	}
	if asked.Verify != "on" {
		return found, nil
	}
	if asked.Name == "" {
		return trust{}, &refusal{"proxy-ssl-verify", model.InvalidValue, "want the name that the certificates must have in " + ing.PrefixKey + "proxy-ssl-name (got none)"}
	}
	if found.authorities, err = authoritiesOf(secret); err != nil {
		return trust{}, &refusal{proxySecretKey, model.InvalidValue, fmt.Sprintf("Secret %s: %v", name, err)}
	}
	return found, nil
}

// authoritiesOf reads the authorities in a Secret.
func authoritiesOf(secret *corev1.Secret) (string, error) {
	_, chain, err := readChain(secret.Data[caKey])
	if err != nil {
		return "", fmt.Errorf("%s: %w", caKey, err)
	}
	return strings.TrimSpace(string(chain)) + "\n", nil
}

// presented returns the certificates that an owner presents to backends.
func (i *owner) presented() []*model.Certificate {
	var all []*model.Certificate
	for _, of := range i.Attached {
		if of.Certificate != nil {
			all = append(all, of.Certificate)
		}
	}
	return all
}

// secretFor reads a Secret that an Ingress names. If the Ingress may not use it, secret
// is nil and text has the reason.
func (t *translation) secretFor(ing *owner, name snapshot.Name) (secret *corev1.Secret, text string) {
	namespace := ing.Ref.Namespace
	if t.settings.Annotations.CrossNamespace {
		namespace = name.Namespace
	}
	secret, text, remarks := t.secret(&ing.reads, name, namespace)
	ing.Problems = append(ing.Problems, remarks...)
	return secret, text
}
