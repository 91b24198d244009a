package requests

import (
	"crypto/sha256"
	"encoding/hex"
	"unicode/utf8"
)

// MostLabel is the most bytes of the value of a label: more than a DNS name has.
const MostLabel = 256

// Label returns the value of a label for a text of any length. A longer one than MostLabel is cut
// between two characters, and ends with "…" and 8 hexadecimal digits of its SHA-256, so that long
// texts with the same beginning stay apart.
func Label(text string) string {
	if len(text) <= MostLabel {
		return text
	}
	hash := sha256.Sum256([]byte(text))
	ending := "…" + hex.EncodeToString(hash[:4])
	kept := MostLabel - len(ending)
	for kept > 0 && !utf8.RuneStart(text[kept]) {
		kept--
	}
	return text[:kept] + ending
}
