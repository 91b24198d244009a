package keys

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"strings"
)

// Authorities are certificates in PEM, without text between them.
type Authorities string

// mostAuthorities is the maximum size in bytes, as for those in a Secret.
const mostAuthorities = 64 << 10

// UnmarshalText accepts certificates in PEM. It drops other text.
func (a *Authorities) UnmarshalText(text []byte) error {
	var all strings.Builder
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			return &specific{"a block is no certificate"}
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return &specific{"a certificate is not valid"}
		}
		all.Write(pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes}))
	}
	switch {
	case all.Len() == 0:
		return errors.New("no certificate")
	case all.Len() > mostAuthorities:
		return &specific{"it is larger than 64 KB"}
	}
	*a = Authorities(all.String())
	return nil
}
