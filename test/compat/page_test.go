package compat

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/test/markdown"
)

var update = flag.Bool("update", false, "write docs/compatibility.md anew")

const page = "../../docs/compatibility.md"

// The parts of the page that are written from the lists begin and end so.
const (
	beginning = "<!-- Written by `make golden`. -->\n"
	ending    = "<!-- end -->\n"
)

// TestPageIsFresh holds docs/compatibility.md to the scenarios and the lists of
// differences.
func TestPageIsFresh(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, _, found := strings.Cut(string(content), beginning)
	_, after, ended := strings.Cut(string(content), ending)
	if !found || !ended {
		t.Fatalf("%s has not the lines\n%s%s", page, beginning, ending)
	}
	want := markdown.Wrap(before + beginning + written(t) + ending + after)
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(content)); diff != "" {
		t.Errorf("%s is not fresh; `make golden` writes it anew (-want +got):\n%s", page, diff)
	}
}

// written is what the page has from the lists: the table, and the requests that
// differ.
func written(t *testing.T) string {
	t.Helper()
	return "\n" + foretold(t).String() + "\n## Requests that differ on purpose\n\n" + listed(intended) +
		"\n## Requests that wait for something\n\nEach is named with the annotation or setting, or the value of it, that is not built yet.\n\n" + listed(notBuilt) + "\n"
}

// listed gives requests by their reasons.
func listed(differences map[string]string) string {
	byReason := map[string][]string{}
	for _, question := range slices.Sorted(maps.Keys(differences)) {
		byReason[differences[question]] = append(byReason[differences[question]], "`"+question+"`")
	}
	var out strings.Builder
	for _, reason := range slices.Sorted(maps.Keys(byReason)) {
		fmt.Fprintf(&out, "- %s: %s\n", reason, strings.Join(byReason[reason], ", "))
	}
	return out.String()
}
