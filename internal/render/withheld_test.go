package render

import (
	"slices"
	"testing"
)

// TestOtherForms: all forms of a name, unless they are too many.
func TestOtherForms(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"Authorization": nil,
		"X-User":        {"X_User"},
		"X-Auth-User":   {"X-Auth_User", "X_Auth-User", "X_Auth_User"},
		"A-B-C-D-E-F-G": {"A_B_C_D_E_F_G"},
	} {
		got := otherForms(name)
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := len(otherForms("A-B-C-D-E-F")); got != 31 {
		t.Errorf("%d forms of five -, want 31", got)
	}
}
