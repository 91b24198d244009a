package keys

import (
	"strings"
	"testing"
)

// TestFaultHidesPasswords: reports are sent around, so they have no password of a URL.
func TestFaultHidesPasswords(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"http://u:sekret@a.example/x":                     `(got "http://***@a.example/x")`,
		"https://sekret@a.example":                        `(got "https://***@a.example")`,
		"http://u:sekret@a.example, http://v:sekret@b.cd": `(got "http://***@a.example, http://***@b.cd")`,
		"http://a.example/u@x":                            `(got "http://a.example/u@x")`,
		"u@x":                                             `(got "u@x")`,
	} {
		text := Fault{Want: "a URL", Value: value}.Text()
		if !strings.Contains(text, want) || strings.Contains(text, "sekret") {
			t.Errorf("%s: %s", value, text)
		}
	}
}
