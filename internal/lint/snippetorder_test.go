package lint

import (
	"slices"
	"testing"
)

// Notes about a snippet are in the order of its lines.
func TestNotesAreInTheOrderOfLines(t *testing.T) {
	t.Parallel()
	want := []string{"line 2 (return): x", "lines 4, 5 (deny): x", "line 10 (if): x"}
	var found []Finding
	for _, at := range []int{2, 0, 1} {
		found = append(found, Finding{Reason: Snippet, Text: want[at]})
	}
	slices.SortFunc(found, compare)
	for i, f := range found {
		if f.Text != want[i] {
			t.Errorf("finding %d is %q; want %q", i, f.Text, want[i])
		}
	}
}
