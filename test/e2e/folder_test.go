package e2e

import (
	"net/http"
	"os"
	"strings"
	"testing"
)

// TestFolderThatGoesAndComesBack: what ran goes on, one line says what is
// wrong, and what is in the new folder is served.
func TestFolderThatGoesAndComesBack(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, oneHost(web))
		s.waitBackend("http://a.example/", "web")
		if err := os.Rename(s.manifests, s.manifests+".away"); err != nil {
			t.Fatal(err)
		}
		s.waitLine("objects not read; the running configuration stays in force")
		s.waitBackend("http://a.example/", "web")
		if s.Ready() != http.StatusOK {
			t.Error("not ready although nginx serves")
		}
		if err := os.Mkdir(s.manifests, 0o755); err != nil {
			t.Fatal(err)
		}
		s.write("all.yaml", class+service("web", web)+ingress("b", "b.example", []string{"/ Prefix web"}))
		s.waitBackend("http://b.example/", "web")
		s.waitStatus("http://a.example/", http.StatusNotFound)
		if lines := s.lines("level=ERROR"); len(lines) != 1 {
			t.Errorf("want one line of an error, got:\n%s", strings.Join(lines, "\n"))
		}
	})
}

// TestUnreadableFolderAtStart: it is reported once, sluice is not ready, and
// begins when the folder can be read.
func TestUnreadableFolderAtStart(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := prepare(t, root, oneHost(web))
		s.asNobody()
		chmod(t, s.manifests, 0)
		t.Cleanup(func() { _ = os.Chmod(s.manifests, 0o755) })
		s.launch()
		s.waitLine("objects not read")
		s.waitLine("permission denied")
		if got := s.Ready(); got != http.StatusServiceUnavailable {
			t.Errorf("readiness answers %d before anything was read", got)
		}
		chmod(t, s.manifests, 0o755)
		s.waitReady()
		s.waitBackend("http://a.example/", "web")
		if lines := s.lines("objects not read"); len(lines) != 2 { // its begin and its end
			t.Errorf("want two lines, got:\n%s", strings.Join(lines, "\n"))
		}
	})
}

// TestUnreadableFile goes on giving what it gave, and holds nobody back.
func TestUnreadableFile(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := prepare(t, root, oneHost(web))
		s.asNobody()
		s.launch()
		s.waitReady()
		s.waitBackend("http://a.example/", "web")
		chmod(t, s.manifests+"/a.yaml", 0)
		s.waitLine("a.yaml: permission denied")
		s.write("b.yaml", ingress("b", "b.example", []string{"/ Prefix web"}))
		s.waitBackend("http://b.example/", "web")
		s.waitBackend("http://a.example/", "web")
		chmod(t, s.manifests+"/a.yaml", 0o644)
		s.write("a.yaml", ingress("a", "a.example", []string{"/new Prefix web"}))
		s.waitBackend("http://a.example/new", "web")
	})
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}
