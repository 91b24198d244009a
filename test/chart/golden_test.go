package chart

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"sluice/test/chart/rendering"
)

// The sections of a set.
const (
	valuesSection    = "values.yaml"
	manifestsSection = "manifests.yaml"
	notesSection     = "NOTES.txt"
)

// TestSets: what the chart makes of each set of values in testdata/sets is what
// stands there, twice; and Helm's linter has nothing to say.
func TestSets(t *testing.T) {
	// It is not parallel: the linter's warnings go to the one log.
	files, err := filepath.Glob("testdata/sets/*.txtar")
	if err != nil || len(files) < 7 {
		t.Fatalf("the sets are %q, %v", files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			set, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			values := section(set, valuesSection)
			r, err := rendering.Default().Render(values)
			if err != nil {
				t.Fatal(err)
			}
			again, err := rendering.Default().Render(values)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(r.Manifests+r.Notes, again.Manifests+again.Notes); diff != "" {
				t.Errorf("the second rendering is another one:\n%s", diff)
			}
			wanted := txtar.Archive{Comment: set.Comment, Files: []txtar.File{
				{Name: valuesSection, Data: []byte(values)}, {Name: manifestsSection, Data: []byte(r.Manifests)}, {Name: notesSection, Data: []byte(r.Notes)},
			}}
			fresh(t, "test/chart/"+filepath.ToSlash(file), string(txtar.Format(&wanted)))
			given, err := rendering.Parse(values)
			if err != nil {
				t.Fatal(err)
			}
			for _, message := range rendering.Lint(given) {
				t.Errorf("helm lint: %s", message)
			}
		})
	}
}

func section(set *txtar.Archive, name string) string {
	for _, file := range set.Files {
		if file.Name == name {
			return string(file.Data)
		}
	}
	return ""
}

// TestLintIsAwake: the linter that finds nothing would find something.
func TestLintIsAwake(t *testing.T) {
	if found := rendering.Lint(map[string]any{"controller": map[string]any{"replicaCount": "many"}}); len(found) == 0 {
		t.Error("the linter takes a text as a number of replicas")
	}
}
