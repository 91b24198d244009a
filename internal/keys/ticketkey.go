package keys

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// TicketKey is a key of session tickets, as OpenSSL takes it: 16 bytes of a name, 32 of a key
// for HMAC and 32 of one for AES. nil means none.
type TicketKey []byte

// The sizes of a key in bytes.
const (
	ticketKeySize      = 80
	shortTicketKeySize = 48
	ticketNameSize     = 16
)

// UnmarshalText accepts 48 or 80 bytes in base64. The keys for AES and HMAC of 48 bytes are
// shorter than those of OpenSSL, so these are derived.
func (k *TicketKey) UnmarshalText(text []byte) error {
	key, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(string(text)), ""))
	switch {
	case err != nil:
		return errors.New("no base64") // the error of the decoder has a place in the key
	case len(key) == shortTicketKeySize:
		derived, err := hkdf.Key(sha256.New, key, nil, "sluice session tickets", ticketKeySize-ticketNameSize)
		if err != nil {
			return errors.New("no key can be derived")
		}
		key = append(key[:ticketNameSize:ticketNameSize], derived...)
	case len(key) != ticketKeySize:
		return &specific{fmt.Sprintf("it has %d bytes", len(key))}
	}
	*k = key
	return nil
}

// String and the others hide the key.
func (TicketKey) String() string { return "(secret)" }

// GoString hides the key from %#v.
func (TicketKey) GoString() string { return "(secret)" }

// MarshalText hides the key from JSON.
func (TicketKey) MarshalText() ([]byte, error) { return []byte("(secret)"), nil }
