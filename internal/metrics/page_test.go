package metrics

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"sluice/internal/metrics/requests"
)

var update = flag.Bool("update", false, "write the tables of metrics in docs/monitoring.md anew")

const pagePath = "../../docs/monitoring.md"

// The tables of the page by their first lines. Those of ingress-nginx's metrics have no labels: they
// are the same there.
const (
	tableOfIngressNginx = "| metric | what it is |\n|---|---|\n"
	tableOfSluice       = "| metric | labels | what it is |\n|---|---|---|\n"
)

// TestPage: the tables of metrics in docs/monitoring.md are what the code says.
func TestPage(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(pagePath)
	if err != nil {
		t.Fatal(err)
	}
	theirs, ours := rows(t)
	want := withTable(t, string(content), tableOfIngressNginx, theirs)
	want = withTable(t, want, tableOfSluice, ours)
	if *update {
		if err := os.WriteFile(pagePath, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(string(content), "\n")); diff != "" {
		t.Errorf("docs/monitoring.md is not what the code says; `go test ./internal/metrics -update` and `make golden` write it (-code +page):\n%s", diff)
	}
}

// withTable returns a page with these rows in a table.
func withTable(t *testing.T, page, head string, rows []string) string {
	t.Helper()
	before, rest, found := strings.Cut(page, head)
	_, after, ends := strings.Cut(rest, "\n\n")
	if !found || !ends {
		t.Fatalf("docs/monitoring.md lacks the table that begins with %q", head)
	}
	return before + head + strings.Join(rows, "\n") + "\n\n" + after
}

// describedAs is the text of a prometheus.Desc, which has no other way to tell what it holds.
var describedAs = regexp.MustCompile(`^Desc\{fqName: ("\S+"), help: ("(?:[^"\\]|\\.)*"), .*, variableLabels: \{(.*)\}\}$`)

// flagInText is a flag in a help, which the page shows as code.
var flagInText = regexp.MustCompile(`--[a-z][a-z-]*`)

// rows returns the rows of the metrics that ingress-nginx has too, and of Sluice's own, by name.
func rows(t *testing.T) (theirs, ours []string) {
	t.Helper()
	m := New(Options{Enabled: true, WebhookExpires: func() (time.Time, bool) { return time.Time{}, false }, Counters: func(context.Context) ([]byte, error) { return nil, nil }})
	to := make(chan *prometheus.Desc, 1000)
	m.registry.Describe(to)
	close(to)
	helps, cells := requests.Helps(), map[string]string{}
	for d := range to {
		found := describedAs.FindStringSubmatch(d.String())
		if found == nil {
			t.Fatalf("%s is not as expected", d)
		}
		name, err := strconv.Unquote(found[1])
		if err != nil {
			t.Fatal(err)
		}
		if helps[name], err = strconv.Unquote(found[2]); err != nil {
			t.Fatal(err)
		}
		if found[3] != "" {
			cells[name] = " `" + strings.ReplaceAll(found[3], ",", "`, `") + "`"
		}
	}
	for _, name := range slices.Sorted(maps.Keys(helps)) {
		help := flagInText.ReplaceAllString(helps[name], "`$0`")
		if short, is := strings.CutPrefix(name, requests.Prefix); is {
			theirs = append(theirs, fmt.Sprintf("| `%s` | %s |", short, help))
		} else if strings.HasPrefix(name, "sluice_") {
			ours = append(ours, fmt.Sprintf("| `%s` |%s | %s |", name, cells[name], help))
		}
	}
	return theirs, ours
}
