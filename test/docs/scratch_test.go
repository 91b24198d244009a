package docs

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCommitIsTheCopys: what is committed of a copy is in a repository of its own, and
// nothing is where the copy belongs to another, as that of a linked work tree would.
func TestCommitIsTheCopys(t *testing.T) {
	t.Parallel()
	from, once, to := t.TempDir(), t.TempDir(), t.TempDir()
	for name, content := range map[string]string{".git": "gitdir: /nowhere\n", "README.md": "# Sluice\n"} {
		if err := os.WriteFile(filepath.Join(from, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := Commit(from); err == nil {
		t.Error("a folder that belongs to another repository was committed")
	}
	if err := errors.Join(NewCheckout(from, once), copyFolder(once, to, nil)); err != nil {
		t.Fatal(err)
	}
	describe := func() string {
		version, err := exec.Command("git", "-C", to, "describe", "--always", "--dirty", "--tags").Output()
		if err != nil || len(version) < 7 {
			t.Errorf("git describe: %q, %v", version, err)
		}
		return string(version)
	}
	if clean := describe(); strings.Contains(clean, "dirty") {
		t.Errorf("a copy that nobody has changed is %s", clean)
	}
	if err := os.WriteFile(filepath.Join(to, "README.md"), []byte("# Other\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if changed := describe(); !strings.Contains(changed, "dirty") {
		t.Errorf("a copy that was changed is %s", changed)
	}
}
