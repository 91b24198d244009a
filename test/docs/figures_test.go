package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// TestFiguresAreMeasured: each figure in the table of README.md is one of the row of
// the same name in docs/benchmarks.md, in the same column: Sluice's, those of
// ingress-nginx, and those of the best other.
func TestFiguresAreMeasured(t *testing.T) {
	t.Parallel()
	readme, measured := read(t, "README.md"), read(t, "docs/benchmarks.md")
	checked := 0
	for _, row := range strings.Split(readme, "\n") {
		if !strings.HasPrefix(row, "  | ") || strings.HasPrefix(row, "  | |") {
			continue
		}
		claimed := cells(row)
		i := strings.Index(measured, "\n| "+claimed[0]+" |")
		if i < 0 {
			t.Errorf("docs/benchmarks.md has no row %q", claimed[0])
			continue
		}
		line, _, _ := strings.Cut(measured[i+1:], "\n")
		// What, budget, baseline, figure, ingress-nginx, best other.
		source := cells(line)
		for column, from := range map[int]int{1: 3, 2: 4, 3: 5} {
			for _, number := range figure.FindAllString(claimed[column], -1) {
				checked++
				if !slices.Contains(figure.FindAllString(source[from], -1), number) {
					t.Errorf("README.md claims %s for %q: docs/benchmarks.md has %s", number, claimed[0], source[from])
				}
			}
		}
	}
	if checked != 15 {
		t.Errorf("%d figures were checked, and README.md has 15", checked)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
