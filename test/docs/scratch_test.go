package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestCommitIsTheCopys: what is committed of a copy is in a repository of its own, and
// nothing is where the copy belongs to another, as that of a linked work tree would.
func TestCommitIsTheCopys(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), t.TempDir()
	for name, content := range map[string]string{".git": "gitdir: /nowhere\n", "README.md": "# Sluice\n"} {
		if err := os.WriteFile(filepath.Join(from, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := Commit(from); err == nil {
		t.Error("a folder that belongs to another repository was committed")
	}
	if err := CopyCheckout(from, to); err != nil {
		t.Fatal(err)
	}
	if err := Commit(to); err != nil {
		t.Fatal(err)
	}
	describe := exec.Command("git", "-C", to, "describe", "--always", "--dirty", "--tags")
	if version, err := describe.Output(); err != nil || len(version) < 7 {
		t.Errorf("git describe: %q, %v", version, err)
	}
}
