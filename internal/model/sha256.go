package model

import (
	"crypto/sha256"
	"encoding/hex"
)

// SHA256 returns the SHA-256 of a text in hexadecimal. Half of it is long enough against
// collisions.
func SHA256(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
