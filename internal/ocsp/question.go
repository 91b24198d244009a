package ocsp

import (
	"crypto/x509"
	"encoding/pem"
	"slices"
	"time"

	"golang.org/x/crypto/ocsp"

	"sluice/internal/model"
)

const (
	// skew is how far the clocks of the responder and of this machine may differ.
	skew = 5 * time.Minute
	// openEnd is for how long a response without an end is valid.
	openEnd = 24 * time.Hour
)

// revoked is the fault of a certificate that its authority revoked.
const revoked = "the responder says that the certificate is revoked"

// question is a request about a certificate, with what is needed to check the answer.
type question struct {
	leaf, issuer *x509.Certificate
	request      []byte
}

// answer is a response that is valid until a time.
type answer struct {
	response []byte
	until    time.Time
}

// newQuestion makes the request. The chain must have the issuer of the certificate.
func newQuestion(c *model.Certificate) (q question, fault string) {
	var chain []*x509.Certificate
	for block, rest := pem.Decode(c.Chain); block != nil; block, rest = pem.Decode(rest) {
		if one, err := x509.ParseCertificate(block.Bytes); err == nil {
			chain = append(chain, one)
		}
	}
	if len(chain) == 0 {
		return q, "the certificate cannot be read"
	}
	q.leaf = chain[0]
	at := slices.IndexFunc(chain, func(issuer *x509.Certificate) bool { return q.leaf.CheckSignatureFrom(issuer) == nil })
	if at < 0 {
		return q, "the chain in tls.crt lacks the certificate of the issuer"
	}
	q.issuer = chain[at]
	request, err := ocsp.CreateRequest(q.leaf, q.issuer, nil)
	if err != nil {
		return q, "no OCSP request can be made for the certificate"
	}
	q.request = request
	return q, ""
}

// read checks a response: who signed it, for which certificate, and that it is valid now.
func (q question) read(text []byte, now time.Time) (answer, string) {
	response, err := ocsp.ParseResponseForCert(text, q.leaf, nil)
	switch {
	case err != nil:
		return answer{}, "the response is not one for the certificate"
	case !q.signed(response, now):
		return answer{}, "the response is signed neither by the issuer of the certificate nor by one that the issuer permits"
	case response.ThisUpdate.After(now.Add(skew)):
		return answer{}, "the response is not valid yet"
	case !response.NextUpdate.IsZero() && !response.NextUpdate.After(now):
		return answer{}, "the response has expired"
	case response.Status == ocsp.Revoked:
		return answer{}, revoked
	case response.Status != ocsp.Good:
		return answer{}, "the responder does not know the certificate"
	}
	until := response.NextUpdate
	if until.IsZero() {
		until = now.Add(openEnd)
	}
	return answer{response: text, until: until}, ""
}

// signed reports whether the issuer signed a response, or a delegate with a certificate of the
// issuer for that. ParseResponseForCert has checked the signature of a delegate, but not the
// delegate. Source: https://www.rfc-editor.org/rfc/rfc6960#section-4.2.2.2
func (q question) signed(response *ocsp.Response, now time.Time) bool {
	delegate := response.Certificate
	switch {
	case delegate == nil:
		return response.CheckSignatureFrom(q.issuer) == nil
	case delegate.Equal(q.issuer):
		return true
	}
	return slices.Contains(delegate.ExtKeyUsage, x509.ExtKeyUsageOCSPSigning) && !now.Before(delegate.NotBefore) && !now.After(delegate.NotAfter) &&
		delegate.CheckSignatureFrom(q.issuer) == nil
}
