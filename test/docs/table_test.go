package docs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sluice/test/cluster"
)

// proposalRow matches a row of the table of the Ingress proposal: types, paths, a
// request, and what takes it.
var proposalRow = regexp.MustCompile("(?m)^\\| (`\\w+`(?:, `\\w+`)*) \\| (`[^|]+`) \\| `([^`|]+)` \\| ([^|]+) \\|$")

var quoted = regexp.MustCompile("`([^`]*)`")

// TestProposalTable asks `sluice explain` for each row of the table in
// path-matching.md.
func TestProposalTable(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(root, "docs", "path-matching.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := proposalRow.FindAllStringSubmatch(string(content), -1)
	if len(rows) != 13 {
		t.Fatalf("the table has %d rows, the proposal has 13", len(rows))
	}
	tools, err := Tools{Path: []string{filepath.Dir(cluster.SluicePath())}}.In(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range rows {
		if got := takenBy(t, tools, texts(row[1]), texts(row[2]), row[3]); got != row[4] {
			t.Errorf("row %d, %s %s, request %s: the page says %s, and sluice explain %s", i+1, row[1], row[2], row[3], row[4], got)
		}
	}
}

// texts are those between backticks.
func texts(cell string) []string {
	var all []string
	for _, found := range quoted.FindAllStringSubmatch(cell, -1) {
		all = append(all, found[1])
	}
	return all
}

// takenBy says which path takes a request, in the words of the table. Of one type
// are all paths, of several each has its own.
func takenBy(t *testing.T, tools Tools, types, paths []string, request string) string {
	t.Helper()
	manifest := "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: table}\nspec:\n  ingressClassName: nginx\n  rules:\n  - host: row.example\n    http:\n      paths:\n"
	for i, path := range paths {
		manifest += fmt.Sprintf("      - {path: %s, pathType: %s, backend: {service: {name: web, port: {number: 80}}}}\n", path, types[min(i, len(types)-1)])
	}
	file := filepath.Join(t.TempDir(), "table.yaml")
	if err := os.WriteFile(file, []byte(manifest), 0o644); err != nil {
		t.Fatal(err)
	}
	said, err := tools.Run("sluice", "explain", "row.example"+request, "-f", file, "-o", "json")
	if err != nil {
		t.Fatal(err)
	}
	var explanation struct {
		Winner struct{ Field, PathType, Path string }
	}
	if err := json.Unmarshal([]byte(said), &explanation); err != nil {
		t.Fatal(err)
	}
	w := explanation.Winner
	switch {
	case w.Field == "":
		return "none"
	case len(types) > 1:
		return fmt.Sprintf("`%s` (`%s`)", w.Path, w.PathType)
	}
	return strings.TrimSpace("`" + w.Path + "`")
}
