package settings

import (
	"strings"
	"testing"
)

// A word that ingress-nginx does not take for true closes nothing; another one may
// have been meant to protect.
func TestOffSettingsAskForNothing(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"false", "False", "0", "f", "off", "OFF", "no", "", " "} {
		if s, problems := read(map[string]string{"enable-modsecurity": value}); s.Denies() || s.Broken("enable-modsecurity") || s.ModSecurity.Enabled || len(problems) != 0 {
			t.Errorf("enable-modsecurity %q: denies %v, %v", value, s.Denies(), problems)
		}
		for _, key := range []string{"enable-modsecurty"} {
			if s, problems := read(map[string]string{key: value}); s.Denies() || len(problems) != 1 || strings.HasPrefix(problems[0], "Unsupported ") {
				t.Errorf("%s %q: denies %v, %v", key, value, s.Denies(), problems)
			}
		}
	}
	for _, value := range []string{"on", "yes", "x"} {
		if s, _ := read(map[string]string{"enable-modsecurity": value}); !s.Broken("enable-modsecurity") {
			t.Errorf("%q closes nothing", value)
		}
		if s, _ := read(map[string]string{"enable-modsecurty": value}); !s.Denies() {
			t.Errorf("%q closes nothing under a misspelled name", value)
		}
	}
	for key, value := range map[string]string{
		"enable-serial-reloads": "0",
	} {
		if s, problems := read(map[string]string{key: value}); s.Denies() || len(problems) != 1 || strings.HasPrefix(problems[0], "Unsupported ") {
			t.Errorf("%s: denies %v, %v", key, s.Denies(), problems)
		}
	}
}
