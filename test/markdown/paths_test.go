package markdown

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// sourcePath matches a path of the repository as code. A name such as NAME or * stands for
// several.
var sourcePath = regexp.MustCompile("`((?:cmd|charts|docs|hack|internal|rootfs|templates|test)/[a-z0-9_./-]+)`")

// TestSourcePathsExist finds paths on the page for developers that are no longer there.
func TestSourcePathsExist(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "docs/architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	paths := sourcePath.FindAllSubmatch(text, -1)
	for _, found := range paths {
		if _, err := os.Stat(filepath.Join(root, string(found[1]))); err != nil {
			t.Errorf("docs/architecture.md: %v", err)
		}
	}
	if len(paths) < 100 {
		t.Errorf("found only %d paths", len(paths))
	}
}
