package manifest

import (
	"os"
	"path/filepath"
	"testing"
)

// A file whose permissions change is another version, so that it is read again and
// reported where that fails.
func TestPermissionsMakeAnotherVersion(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(path, []byte("# nothing\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	readable, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if !sameVersion(readable, readable) {
		t.Error("a file that did not change is another version")
	}
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	unreadable, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if sameVersion(readable, unreadable) {
		t.Error("a file that may no longer be read is the same version")
	}
}
