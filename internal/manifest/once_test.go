package manifest

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
)

// Of sources whose folders overlap each file is read by the first, by whichever path.
func TestLoadOnce(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dir, link := filepath.Join(root, "d"), filepath.Join(root, "link")
	if err := os.MkdirAll(filepath.Join(dir, "below"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, namespace := range map[string]string{"a.yaml": "a", "below/b.yaml": "b", "c.txt": "c"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("{apiVersion: v1, kind: Namespace, metadata: {name: "+namespace+"}}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	read := Once{}
	for _, test := range []struct {
		path string
		want int
	}{{filepath.Join(dir, "a.yaml"), 1}, {dir, 1}, {link, 0}, {filepath.Join(dir, "below"), 0}, {filepath.Join(dir, "c.txt"), 1}, {filepath.Join(link, "c.txt"), 0}} {
		source, err := Open(test.path, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		loaded, err := source.LoadOnce(context.Background(), read)
		if err != nil || len(loaded.Errors) > 0 || len(loaded.Objects.Namespaces) != test.want {
			t.Errorf("%s: got %+v, %v; want %d", test.path, loaded, err, test.want)
		}
	}
}
