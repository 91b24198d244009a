package main

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/migrate"
)

// production are Ingresses as clusters have them; values are those of its Helm release.
const (
	production = "../../docs/examples/ingress-nginx"
	values     = "../../docs/examples/ingress-nginx-values.yaml"
)

// TestMigrateProduction: the whole report in text.
func TestMigrateProduction(t *testing.T) {
	t.Parallel()
	got := process(t, ".", "", "migrate", "-f", production, "--values", values, "--assume-secrets")
	if got.Status != 1 || got.Errors != "" {
		t.Errorf("status %d, %s", got.Status, got.Errors)
	}
	const path = "testdata/migrate.txt"
	if *update {
		if err := os.WriteFile(path, []byte(got.Out), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.Out, "\n")); diff != "" {
		t.Errorf("the report (-want +got), `go test ./cmd/sluice -run Migrate -update` writes it:\n%s", diff)
	}
}

// TestMigrateForms: each form has each Ingress.
func TestMigrateForms(t *testing.T) {
	t.Parallel()
	form := func(name string) string {
		t.Helper()
		got := process(t, ".", "", "migrate", "-f", production, "--assume-secrets", "-o", name, "--fail-on", "never")
		if got.Status != 0 {
			t.Fatalf("-o %s: status %d, %s", name, got.Status, got.Errors)
		}
		return got.Out
	}
	var report migrate.Report
	if err := json.Unmarshal([]byte(form("json")), &report); err != nil {
		t.Fatal(err)
	}
	if c := report.Counts; len(report.Ingresses) != 19 || c.Ready+c.Different+c.Unavailable+c.LeftOut != 19 || c.Unavailable != 2 {
		t.Errorf("JSON: %d Ingresses, %+v", len(report.Ingresses), c)
	}
	if len(report.Flags) != 7 || len(report.Settings) != 6 || len(report.Untold) == 0 {
		t.Errorf("JSON: flags %v, settings %v, %d not told", report.Flags, report.Settings, len(report.Untold))
	}
	rows, err := csv.NewReader(strings.NewReader(form("csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range report.Ingresses {
		if !slices.ContainsFunc(rows, func(cells []string) bool {
			return cells[0] == i.Namespace && cells[1] == i.Name && cells[2] == string(i.Status)
		}) {
			t.Errorf("CSV: no line for %s/%s", i.Namespace, i.Name)
		}
	}
	var sarif struct {
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			Results []struct {
				RuleID, Level string
				RuleIndex     int
				Locations     []struct {
					PhysicalLocation struct{ ArtifactLocation struct{ URI string } }
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(form("sarif")), &sarif); err != nil {
		t.Fatal(err)
	}
	run := sarif.Runs[0]
	for _, r := range run.Results {
		if run.Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID || len(r.Locations) != 1 || !strings.HasSuffix(r.Locations[0].PhysicalLocation.ArtifactLocation.URI, ".yaml") {
			t.Errorf("SARIF: %+v", r)
		}
	}
	if sarif.Version != "2.1.0" || len(run.Results) < 20 {
		t.Errorf("SARIF: version %s, %d results", sarif.Version, len(run.Results))
	}
	page := form("html")
	for _, i := range report.Ingresses {
		if !strings.Contains(page, ">"+i.Namespace+"/"+i.Name+"<") {
			t.Errorf("HTML: nothing about %s/%s", i.Namespace, i.Name)
		}
	}
	if found := regexp.MustCompile(`(?i)<script|<link|<img|<iframe|@import|url\(|(?:src|href)="[^#]`).FindString(page); found != "" {
		t.Errorf("HTML: %q asks for something outside of the page", found)
	}
}

// TestMigrateStatus: the exit status follows --fail-on, and a wrong command line is 2.
func TestMigrateStatus(t *testing.T) {
	t.Parallel()
	ready := production + "/10-canary.yaml"
	services := production + "/01-services.yaml"
	for _, test := range []struct {
		arguments string
		status    int
	}{
		{"-f " + ready + " -f " + services + " --assume-secrets", 0},
		{"-f " + production + "/16-websocket.yaml --assume-secrets", 1},
		{"-f " + production + "/16-websocket.yaml --assume-secrets --fail-on 503", 0},
		{"-f " + production + "/24-allow-lists.yaml --assume-secrets --fail-on 503", 1},
		{"-f " + production + "/24-allow-lists.yaml --assume-secrets --fail-on left-out", 0},
		{"-f " + production + " --assume-secrets --fail-on never", 0},
		{"-f " + production + " --assume-secrets --namespace nobody", 1},
		{"-f " + production + " --assume-secrets --namespace nobody --allow-empty", 0},
		{"-f " + services, 1},
		{"", 2},
		{"-f " + ready + " -o yaml", 2},
		{"-f " + ready + " --fail-on ready", 2},
		{"-f no-such-file", 2},
		{"-f " + ready + " --values no-such-file", 2},
		{"-f " + ready + " --values " + services, 2},
		{"-f - --values -", 2},
		{"--from-cluster --kubeconfig no-such-file", 2},
	} {
		got := process(t, ".", "", append([]string{"migrate"}, strings.Fields(test.arguments)...)...)
		if got.Status != test.status {
			t.Errorf("migrate %s: status %d, want %d: %s%s", test.arguments, got.Status, test.status, got.Errors, got.Out)
		}
	}
}

// TestMigrateWritesNoControls: the name of a flag in a Deployment or in values cannot clear a
// terminal, or hide lines of the report.
func TestMigrateWritesNoControls(t *testing.T) {
	t.Parallel()
	manifests := written(t, "manifests.yaml", migrateParts["service"]+"---\n"+migrateParts["ready"]+"---\n"+deploymentWith(`"--\e]0;pwned\a\e[2J\rall ready=x"`))
	values := written(t, "values.yaml", `controller: {extraArgs: {"fo\e[2J\u202eo": "1"}}`)
	for _, arguments := range []string{"-f " + manifests, "-f " + manifests + " --values " + values} {
		for _, format := range []string{"text", "html"} {
			got := process(t, ".", "", append(strings.Fields("migrate -o "+format), strings.Fields(arguments)...)...)
			if at := strings.IndexFunc(got.Out, func(r rune) bool { return r != '\n' && unicode.IsControl(r) || r == '\u202e' }); at >= 0 || !strings.Contains(got.Out, "has this flag") {
				t.Errorf("migrate -o %s %s: a control character at %d in %q", format, arguments, at, got.Out[max(0, at-40):max(0, at)+40])
			}
		}
	}
}
