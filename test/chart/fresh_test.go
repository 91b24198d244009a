// Package chart tests charts/sluice by Helm's own modules: what it renders for seven
// sets of values, what each value does, and that the files that are made of it are
// fresh. `make golden` writes the expectations, and `make manifests` the files of
// deploy/.
package chart

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/test/chart/rendering"
)

var update = flag.Bool("update", false, "write the files that are made of the chart anew")

// fresh compares a file of the repository with what it is to be, or writes it.
func fresh(t *testing.T, path, want string) {
	t.Helper()
	file := filepath.Join(rendering.Root(), filepath.FromSlash(path))
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Errorf("%s is stale; `make golden` writes it, and `make manifests` those of deploy and test/cluster (-wanted +file):\n%s", path, diff)
	}
}
