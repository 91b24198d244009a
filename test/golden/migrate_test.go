package golden

import (
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"sluice/internal/lint"
	"sluice/internal/migrate"
	"sluice/internal/model"
	"sluice/test/kit"
)

// TestMigrateAgreesWithProblems: what becomes of each Ingress of each case is consistent
// with its Problems.
func TestMigrateAgreesWithProblems(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("cases/*.txtar")
	if err != nil || len(paths) < 500 {
		t.Fatalf("%d cases: %v", len(paths), err)
	}
	seen := map[migrate.Status]int{}
	for _, path := range paths {
		c := readCase(t, path)
		m := c.manifests(t)
		o := lint.Options{Translate: c.options(t, m.Objects), Templates: kit.Templates(t), Environment: printed, AllowEmpty: true}
		report := migrate.Look(m, o, migrate.Setup{})
		found := map[model.ObjectRef][]lint.Finding{}
		for _, f := range lint.Look(m, o).Findings {
			found[f.Object] = append(found[f.Object], f)
		}
		for _, i := range report.Ingresses {
			seen[i.Status]++
			agree(t, filepath.Base(path), i, found[model.ObjectRef{Kind: "Ingress", Namespace: i.Namespace, Name: i.Name}])
		}
	}
	for _, status := range migrate.Statuses {
		if seen[status] < 20 {
			t.Errorf("%d Ingresses of all cases are %s", seen[status], status)
		}
	}
	t.Log(seen)
}

// agree compares the status of an Ingress with its findings.
func agree(t *testing.T, name string, i migrate.Ingress, findings []lint.Finding) {
	t.Helper()
	where := name + ": Ingress " + i.Namespace + "/" + i.Name
	closes := slices.ContainsFunc(findings, func(f lint.Finding) bool { return f.Denies })
	if closes && i.Status != migrate.Unavailable && i.Status != migrate.LeftOut {
		t.Errorf("%s: a finding closes paths, and it is %s", where, i.Status)
	}
	said := 0
	for _, item := range i.Items {
		if item.Status != migrate.Note {
			said++
		}
		judgeRemedy(t, where, item)
		if item.Status != migrate.Note && item.Difference == nil {
			t.Errorf("%s: %s [%s] names no row of docs/differences.md", where, item.Text, item.Reason)
		}
	}
	if (said > 0) != (i.Status != migrate.Ready) {
		t.Errorf("%s: it is %s, with %d items", where, i.Status, said)
	}
	if i.Paths.Unavailable+i.Paths.LeftOut > i.Paths.All {
		t.Errorf("%s: %+v", where, i.Paths)
	}
	for _, f := range findings {
		if f.Reason != lint.Snippet && !slices.ContainsFunc(i.Items, func(item migrate.Item) bool { return item.Field == f.Field && item.Text == f.Text }) {
			t.Errorf("%s: the report has no item for %s", where, f)
		}
	}
}

// removing recognises a remedy that takes something away. What these name instead protects as
// well, or nothing is lost.
var (
	removing = regexp.MustCompile(`(?i)\b(remove|leave)\b`)
	replaced = regexp.MustCompile(`do not remove it|in place of the snippet, and remove the snippet|for their lines, and remove those|nothing in it is needed|and remove the annotation|leave this Ingress with ingress-nginx|Remove spec\.defaultBackend`)
)

// judgeRemedy: an item that closes paths says what to do, and no remedy for it opens them.
func judgeRemedy(t *testing.T, where string, item migrate.Item) {
	t.Helper()
	if item.Status != migrate.Unavailable || item.Reason == "" {
		return
	}
	if item.Remedy == "" || removing.MatchString(replaced.ReplaceAllString(item.Remedy, "")) {
		t.Errorf("%s: %s [%s]: the remedy is %q", where, item.Text, item.Reason, item.Remedy)
	}
}
