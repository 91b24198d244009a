package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// figure matches a number as the tables have it.
var figure = regexp.MustCompile(`\d[\d,.]*\d|\d`)

// cells are those of a row of a table.
func cells(row string) []string {
	var all []string
	for cell := range strings.SplitSeq(strings.Trim(strings.TrimSpace(row), "|"), "|") {
		all = append(all, strings.TrimSpace(cell))
	}
	return all
}

// TestFiguresAreMeasured: each figure in the table of README.md is that of 5,000
// Ingresses in the row of the same name of docs/benchmarks.md, in the same column:
// Sluice's, those of ingress-nginx, and those of the best other. The row is in the
// table of what was measured beside an API server, as the others were.
func TestFiguresAreMeasured(t *testing.T) {
	t.Parallel()
	readme := read(t, "README.md")
	_, measured, found := strings.Cut(read(t, "docs/benchmarks.md"), "\n## Beside an API server\n")
	if !found {
		t.Fatal("docs/benchmarks.md has no section \"Beside an API server\"")
	}
	measured, _, _ = strings.Cut(measured, "\n## ")
	checked := 0
	for _, row := range strings.Split(readme, "\n") {
		if !strings.HasPrefix(row, "  | ") || strings.HasPrefix(row, "  | |") {
			continue
		}
		claimed := cells(row)
		i := strings.Index(measured, "\n| "+claimed[0]+" |")
		if i < 0 {
			t.Errorf("docs/benchmarks.md has no row %q about an API server", claimed[0])
			continue
		}
		line, _, _ := strings.Cut(measured[i+1:], "\n")
		// What, budget, figure, ingress-nginx, best other.
		source := cells(line)
		for column, from := range map[int]int{1: 2, 2: 3, 3: 4} {
			checked++
			if number := figure.FindString(claimed[column]); number == "" || number != at5000(source[from]) {
				t.Errorf("README.md claims %q for %q: docs/benchmarks.md has %s", number, claimed[0], source[from])
			}
		}
	}
	if checked != 15 {
		t.Errorf("%d figures were checked, and README.md has 15", checked)
	}
}

// at5000 is the third figure of a cell: those before are at 100 and at 1,000.
func at5000(cell string) string {
	sizes := strings.Split(cell, " / ")
	if len(sizes) < 3 {
		return ""
	}
	return figure.FindString(sizes[2])
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
