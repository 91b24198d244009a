package golden

import (
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestHeadersOfQuestionsAreOnce wants one line for each header of a question, whoever sets it.
func TestHeadersOfQuestionsAreOnce(t *testing.T) {
	t.Parallel()
	archive, err := txtar.ParseFile("cases/external-auth-believed.txtar")
	if err != nil {
		t.Fatal(err)
	}
	text := string(workOut(t, &testCase{path: "external-auth-believed", archive: archive}, 0).file.Bytes())
	found := 0
	for location := range strings.SplitSeq(text, "\tlocation ") {
		if !strings.HasPrefix(location, `= /.sluice/auth`) && !strings.HasPrefix(location, `= "/.sluice/auth`) {
			continue
		}
		location, _, _ = strings.Cut(location, "\n\t}")
		found++
		seen := map[string]bool{}
		for line := range strings.Lines(location) {
			words := strings.Fields(line)
			if len(words) < 2 || words[0] != "proxy_set_header" {
				continue
			}
			name := strings.ToLower(words[1])
			if seen[name] {
				t.Errorf("%s is there twice:\n%s", words[1], location)
			}
			seen[name] = true
		}
		if !seen["x-forwarded-uri"] {
			t.Errorf("X-Forwarded-Uri of a client is passed on:\n%s", location)
		}
	}
	if found != 2 {
		t.Errorf("%d questions, want 2", found)
	}
}
