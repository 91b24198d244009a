package arch

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/mod/modfile"
)

// disagreements finds modules that two of these go.mod files require in different
// versions. The files are by their path.
func disagreements(t *testing.T, files map[string]string) []string {
	t.Helper()
	var found []string
	type requirement struct{ version, file string }
	first := map[string]requirement{}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		parsed, err := modfile.Parse(path, []byte(files[path]), nil)
		if err != nil {
			t.Fatal(err)
		}
		replaced := map[string]string{}
		for _, r := range parsed.Replace {
			replaced[r.Old.Path] = r.New.Version
		}
		for _, r := range parsed.Require {
			version := r.Mod.Version
			if by, ok := replaced[r.Mod.Path]; ok {
				version = by
			}
			before, seen := first[r.Mod.Path]
			if !seen {
				first[r.Mod.Path] = requirement{version, path}
			} else if before.version != version {
				found = append(found, fmt.Sprintf("%s: %s %s, but %s has %s: `make modules` gives both the newer one", path, r.Mod.Path, version, before.file, before.version))
			}
		}
	}
	return found
}

// TestModulesAgree holds the modules of the repository to one version of each other
// module: a package is then compiled once for the controller, its tests and the programs
// that they need. Kubernetes' API and client alone take a minute and a half of a processor.
func TestModulesAgree(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && (entry.Name() == ".cache" || entry.Name() == ".git") {
			return filepath.SkipDir
		}
		if err != nil || entry.Name() != "go.mod" {
			return err
		}
		text, err := os.ReadFile(path)
		files[path] = string(text)
		return err
	})
	if err != nil || len(files) < 2 {
		t.Fatalf("found %d go.mod: %v", len(files), err)
	}
	report(t, disagreements(t, files))
}

func TestModulesRuleRefuses(t *testing.T) {
	t.Parallel()
	one := "module one\nrequire example.test/a v1.0.0\n"
	mustRefuse(t, "an older version", disagreements(t, map[string]string{"1": one, "2": "module two\nrequire example.test/a v1.1.0\n"}))
	mustRefuse(t, "a replacement", disagreements(t, map[string]string{"1": one, "2": "module two\nrequire example.test/a v1.0.0\nreplace example.test/a => example.test/a v1.1.0\n"}))
	mustTake(t, "the same version", disagreements(t, map[string]string{"1": one, "2": "module two\nrequire example.test/a v1.0.0\nrequire example.test/b v1.1.0\n"}))
	mustTake(t, "a replacement by it", disagreements(t, map[string]string{"1": one, "2": "module two\nrequire example.test/a v0.0.0\nreplace example.test/a => example.test/a v1.0.0\n"}))
}
