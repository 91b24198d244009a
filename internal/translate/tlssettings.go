package translate

import (
	"encoding/asn1"
	"encoding/pem"
	"fmt"
	"math/big"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

const (
	dhParam = "ssl-dh-param"
	// dhFile is the key of a Secret with Diffie-Hellman parameters.
	dhFile = "dhparam.pem"
	// OpenSSL with the usual level of security refuses fewer bits, and any level more than
	// 10000. A handshake with 8192 bits takes some 100 ms.
	fewestDHBits, mostDHBits = 2048, 8192
)

// ticketKey is the key of session tickets, nil for a random one.
func (t *translation) ticketKey() model.Secret {
	if !t.settings.TLS.SharedTickets {
		return nil
	}
	return model.Secret(t.settings.Tickets.Key)
}

// dhMemo are the parameters in a Secret.
type dhMemo struct {
	secret     *corev1.Secret
	pem, fault string
}

// dhParams returns the Diffie-Hellman parameters of the settings in PEM, "" for none.
func (t *translation) dhParams() string {
	if t.settings.TLS.DHParam == "" {
		return ""
	}
	object, _ := t.settings.Origin(dhParam)
	problem := model.Problem{Object: object, Field: dhParam, Reason: model.NotFound}
	name, err := snapshot.ParseName(t.settings.TLS.DHParam)
	if err != nil {
		return ""
	}
	secret := t.snap.Secret(name)
	if secret == nil {
		problem.Text = fmt.Sprintf("Secret %s does not exist", claim.Shown(name.String()))
		if t.snap.Forbids(refTo(kindSecret, name)) {
			problem.Text = noPermission(name)
		}
	} else {
		if t.memo.dh.secret != secret {
			t.memo.dh = readDHParams(secret)
		}
		if t.memo.dh.fault == "" {
			return t.memo.dh.pem
		}
		problem.Reason, problem.Text = model.InvalidValue, fmt.Sprintf("Secret %s: %s: %s", claim.Shown(name.String()), dhFile, t.memo.dh.fault)
	}
	problem.Text += "; clients get no DHE cipher"
	t.report(problem)
	return ""
}

// readDHParams reads the parameters in a Secret. They are written as PEM anew, because nginx
// refuses the whole file if it cannot read them.
func readDHParams(secret *corev1.Secret) dhMemo {
	read := dhMemo{secret: secret}
	var block *pem.Block
	for rest := secret.Data[dhFile]; ; {
		if block, rest = pem.Decode(rest); block == nil || block.Type == "DH PARAMETERS" {
			break
		}
	}
	if block == nil {
		read.fault = "want Diffie-Hellman parameters in PEM, as `openssl dhparam 2048` prints them (got none)"
		return read
	}
	// PKCS #3 allows a number for the length of private keys after these.
	var parameters struct {
		P, G   *big.Int
		Length int `asn1:"optional"`
	}
	rest, err := asn1.Unmarshal(block.Bytes, &parameters)
	if err != nil || len(rest) > 0 {
		read.fault = "want Diffie-Hellman parameters of PKCS #3 (got something else)"
		return read
	}
	read.fault = dhFault(parameters.P, parameters.G)
	// OpenSSL gets no length: it chooses a safe one.
	der, err := asn1.Marshal(struct{ P, G *big.Int }{parameters.P, parameters.G})
	if read.fault == "" && err == nil {
		read.pem = string(pem.EncodeToMemory(&pem.Block{Type: "DH PARAMETERS", Bytes: der}))
	}
	return read
}

// dhFault returns the reason why a group is not usable, "" for none.
func dhFault(p, g *big.Int) string {
	bits, one := p.BitLen(), big.NewInt(1)
	most := new(big.Int).Sub(p, one)
	switch {
	case bits < fewestDHBits || bits > mostDHBits:
		return fmt.Sprintf("want a prime of %d to %d bits (got one of %d)", fewestDHBits, mostDHBits, bits)
	case p.Sign() <= 0 || !p.ProbablyPrime(1):
		return "want a prime (got another number)"
	case g.Cmp(one) <= 0 || g.Cmp(most) >= 0:
		return "want a generator between 1 and the prime less 1 (got another number)"
	}
	return ""
}

// Secrets are the Secrets that Config reads besides those of References, sorted, each once:
// the default certificate, and those of ssl-dh-param and debug-header-secret. configMap returns a ConfigMap, or nil.
func Secrets(configMap func(snapshot.Name) *corev1.ConfigMap, o Options) []snapshot.Name {
	var names []snapshot.Name
	if o.DefaultCertificate != (snapshot.Name{}) {
		names = append(names, o.DefaultCertificate)
	}
	if source := configMap(o.ConfigMap); source != nil {
		for key, value := range source.Data {
			if name, err := snapshot.ParseName(strings.TrimSpace(value)); err == nil && (strings.EqualFold(key, dhParam) || strings.EqualFold(key, debugSecret)) {
				names = append(names, name)
			}
		}
	}
	return once(names)
}
