package translate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

const (
	debugSecret = "debug-header-secret"
	// debugTokenKey is the key of a Secret with a token.
	debugTokenKey = "token"
	// nginx.conf has the hash of the token, which must not be found by trying. A header is
	// limited anyway.
	shortestToken, longestToken = 16, 1000
)

// debugToken returns the hash of the token for the header X-Sluice-Debug, "" for none.
func (t *translation) debugToken() string {
	if t.settings.DebugHeader.Secret == "" {
		return ""
	}
	name, err := snapshot.ParseName(t.settings.DebugHeader.Secret)
	if err != nil {
		return ""
	}
	object, _ := t.settings.Origin(debugSecret)
	problem := model.Problem{Object: object, Field: debugSecret, Reason: model.NotFound}
	secret := t.snap.Secret(name)
	if secret != nil {
		token := secret.Data[debugTokenKey]
		fault := tokenFault(token)
		if fault == "" {
			sum := sha256.Sum256(token)
			return hex.EncodeToString(sum[:])
		}
		problem.Reason, problem.Text = model.InvalidValue, fmt.Sprintf("Secret %s: %s: %s", claim.Shown(name.String()), debugTokenKey, fault)
	} else {
		problem.Text = fmt.Sprintf("Secret %s does not exist", claim.Shown(name.String()))
		if t.snap.Forbids(refTo(kindSecret, name)) {
			problem.Text = noPermission(name)
		}
	}
	problem.Text += "; nobody gets the header X-Sluice-Debug"
	t.report(problem)
	return ""
}

// tokenFault returns the reason why a token is not usable, "" for none. It does not contain
// the token.
func tokenFault(token []byte) string {
	want := fmt.Sprintf("want %d to %d letters, digits and signs, such as `openssl rand -hex 32` prints", shortestToken, longestToken)
	switch {
	case len(token) < shortestToken || len(token) > longestToken:
		return fmt.Sprintf("%s (got %d bytes)", want, len(token))
	}
	for _, b := range token {
		if b <= ' ' || b > '~' {
			return want + " (got others, such as a line end)"
		}
	}
	return ""
}
