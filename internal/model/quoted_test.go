package model

import (
	"strings"
	"testing"
)

// A text is cut between two characters.
func TestQuotedCutsAtACharacter(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		strings.Repeat("a", 200):        `"` + strings.Repeat("a", 200) + `"`,
		strings.Repeat("a", 199) + "€":  `"` + strings.Repeat("a", 199) + `"...`,
		strings.Repeat("a", 197) + "€€": `"` + strings.Repeat("a", 197) + `€"...`,
		strings.Repeat("\x80", 201):     `"` + strings.Repeat(`\x80`, 196) + `"...`,
	} {
		if got := Quoted(text); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
