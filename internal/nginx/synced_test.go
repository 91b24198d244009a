package nginx

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestReplacedFilesOutliveAPowerCut: the content is on disk before the file has its
// name, and the name before the function returns. If that fails, the previous file
// stays.
func TestReplacedFilesOutliveAPowerCut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	content := func() string {
		text, _ := os.ReadFile(path)
		return string(text)
	}
	put := func(text string) func(*os.File) error {
		return func(f *os.File) error {
			_, err := f.WriteString(text)
			return err
		}
	}
	var synced []string
	sync := func(f *os.File) error {
		name, _, _ := strings.Cut(filepath.Base(f.Name()), "-")
		synced = append(synced, name+": "+content())
		return f.Sync()
	}
	for _, text := range []string{"one", "two"} {
		if err := ReplaceSynced(path, put(text), sync); err != nil {
			t.Fatal(err)
		}
	}
	base := filepath.Base(dir)
	if want := []string{"file.new: ", base + ": one", "file.new: one", base + ": two"}; !slices.Equal(synced, want) {
		t.Errorf("synced %q, want %q", synced, want)
	}
	broken := errors.New("no room")
	if err := ReplaceSynced(path, put("three"), func(*os.File) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	entries, _ := os.ReadDir(dir)
	if content() != "two" || len(entries) != 1 {
		t.Errorf("the file says %q beside %v", content(), entries)
	}
}
