package reference

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"sluice/internal/annotations"
	"sluice/internal/keys"
)

// families are the words of README.md for annotations that Sluice does not read, by a
// pattern for their names; nil for what has no annotation.
var families = map[string]*regexp.Regexp{
	"ModSecurity":     regexp.MustCompile(`modsecurity|owasp`),
	"OpenTelemetry":   regexp.MustCompile(`opentelemetry`),
	"server snippets": regexp.MustCompile(`^(?:server|stream)-snippet$`),
	"stream snippets": regexp.MustCompile(`^stream-snippet$`),
	"Gateway API":     nil,
}

// notSupported returns the list in README.md.
func notSupported(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(strings.Join(strings.Fields(string(text)), " "), "**Not supported yet**: ")
	if !found {
		return nil
	}
	list, _, _ := strings.Cut(rest, ".")
	list = strings.TrimSuffix(list, ", among others")
	return strings.Split(strings.ReplaceAll(list, " and ", ", "), ", ")
}

// TestReadmeSaysWhatIsNotSupported: the list in README.md names each family of annotations
// that Sluice does not read, and no other.
func TestReadmeSaysWhatIsNotSupported(t *testing.T) {
	t.Parallel()
	named := map[string]bool{}
	for _, words := range notSupported(t) {
		pattern, known := families[words]
		if !known {
			t.Errorf("README.md: %q is no family of this test", words)
		}
		some := pattern == nil
		for _, k := range annotations.Unsupported() {
			if pattern != nil && pattern.MatchString(k.Key) {
				named[k.Key], some = true, true
			}
		}
		if !some {
			t.Errorf("README.md: %q is supported now: Sluice reads all its annotations", words)
		}
	}
	for _, k := range annotations.Unsupported() {
		if !named[k.Key] && k.Fate != keys.Idle && k.Instead == "" {
			t.Errorf("README.md does not say that %s is not supported yet", k.Key)
		}
	}
}
