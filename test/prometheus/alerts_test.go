package prometheus

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// alert is a rule of alerts.yaml.
type alert struct {
	Alert, Expr, For    string
	Labels, Annotations map[string]string
}

// readAlerts reads those of the chart.
func readAlerts(t *testing.T) []alert {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(charts, "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Groups []struct{ Rules []alert } }
	if err := yaml.Unmarshal(content, &file); err != nil {
		t.Fatal(err)
	}
	var all []alert
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

var heading = regexp.MustCompile(`(?m)^### (\S+)$`)

// TestAlertsHavePages: each alert has a severity, a summary and a heading in docs/alerts.md, and
// each heading an alert.
func TestAlertsHavePages(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/alerts.md")
	if err != nil {
		t.Fatal(err)
	}
	headings := map[string]bool{}
	for _, found := range heading.FindAllSubmatch(page, -1) {
		headings[string(found[1])] = true
	}
	for _, a := range readAlerts(t) {
		if !headings[a.Alert] {
			t.Errorf("docs/alerts.md has no heading %s", a.Alert)
		}
		delete(headings, a.Alert)
		if want := "docs/alerts.md#" + strings.ToLower(a.Alert); a.Annotations["runbook_url"] != want || a.Annotations["summary"] == "" || a.Labels["severity"] == "" {
			t.Errorf("%s: want a severity, a summary and the link %s (got %q, %q)", a.Alert, want, a.Labels, a.Annotations)
		}
	}
	for name := range headings {
		t.Errorf("docs/alerts.md has %s, which is no alert", name)
	}
}
