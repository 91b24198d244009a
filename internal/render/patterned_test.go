package render

import (
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/tokens"
)

// The list of known variables that a map computes with a pattern is complete.
func TestPatternedVariables(t *testing.T) {
	t.Parallel()
	believing, problems := settings.Read(&corev1.ConfigMap{Data: map[string]string{"use-forwarded-headers": "true"}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	file, _ := load(t).Render(model.Static{Blocks: believing.Blocks()}, testEnvironment(), nil)
	text, found := string(file.Bytes()), 0
	for _, m := range regexp.MustCompile(`(?s)map (\S+|"[^"]*") \$(\w+) \{(.*?)\n\}`).FindAllStringSubmatch(text, -1) {
		source, name, body := m[1], m[2], m[3]
		if !tokens.Known(name) || !strings.Contains(body, `"~`) && !tokens.Patterned[strings.TrimPrefix(source, "$")] {
			continue
		}
		found++
		if !tokens.Patterned[name] {
			t.Errorf("$%s is computed with a pattern", name)
		}
	}
	if found != len(tokens.Patterned) {
		t.Errorf("%d maps with patterns are in the file, want %d", found, len(tokens.Patterned))
	}
}
