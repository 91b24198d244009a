package translate

import (
	"crypto/x509"
	"encoding/asn1"
	"slices"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// tlsFeature is the extension of a certificate that lists what a server must send with it, and
// statusRequest the feature of an OCSP response.
// Source: https://www.rfc-editor.org/rfc/rfc7633
var tlsFeature = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 1, 24}

const statusRequest = 5

// demandsStaple reports whether clients may refuse a certificate without an OCSP response.
func demandsStaple(leaf *x509.Certificate) bool {
	for _, extension := range leaf.Extensions {
		var features []int
		if extension.Id.Equal(tlsFeature) {
			_, err := asn1.Unmarshal(extension.Value, &features)
			return err == nil && slices.Contains(features, statusRequest)
		}
	}
	return false
}

// unstapled returns the Problem of a certificate that demands an OCSP response and never has
// one.
func (t *translation) unstapled(pair *keyPair, name snapshot.Name) []model.Problem {
	if pair.certificate == nil || !pair.mustStaple {
		return nil
	}
	text := "its certificate demands an OCSP response (must-staple), so some clients refuse it: "
	switch {
	case !t.settings.TLS.OCSP:
		text += "ask the administrator for the setting enable-ocsp: \"true\", or use a certificate without that extension"
	case pair.certificate.Responder == "":
		text += "want a certificate that names the responder (got none)"
	default:
		return nil
	}
	return []model.Problem{{Object: refTo(kindSecret, name), Reason: model.Unsupported, Text: text}}
}
