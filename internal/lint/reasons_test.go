package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"sluice/internal/model"
)

// TestReasonsAreAll: each reason that the code declares can be ignored by its name.
func TestReasonsAreAll(t *testing.T) {
	declared := regexp.MustCompile(`Reason\s+=\s+"(\w+)"`)
	var found []model.Reason
	for _, dir := range []string{"model", "annotations", "assemble", "translate", "lint"} {
		files, err := filepath.Glob(filepath.Join("..", dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, match := range declared.FindAllStringSubmatch(string(text), -1) {
				found = append(found, model.Reason(match[1]))
			}
		}
	}
	slices.Sort(found)
	want := slices.Clone(Reasons)
	slices.Sort(want)
	if !slices.Equal(found, want) {
		t.Errorf("declared %v\nReasons  %v", found, want)
	}
}
