package e2e

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/templates"
)

// templateDir copies the built-in templates, and extra ones, to a folder.
func templateDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, templates.Files); err != nil {
		t.Fatal(err)
	}
	return dir
}

// listenToo makes the http template of a folder listen on one more port.
func listenToo(t *testing.T, dir string, port int) {
	t.Helper()
	content, err := fs.ReadFile(templates.Files, "http.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	const anchor = "default_type text/html;\n"
	extra := fmt.Sprintf("%sserver {\nlisten 127.0.0.1:%d;\nreturn 204;\n}\n", anchor, port)
	changed := strings.Replace(string(content), anchor, extra, 1)
	if changed == string(content) {
		t.Fatal("http.tmpl does not contain the line that this test extends")
	}
	if err := os.WriteFile(filepath.Join(dir, "http.tmpl"), []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestReloadThatCannotComeUp: a taken port passes nginx's test and fails the
// reload. The former file is put back, everything goes on, and endpoints still
// change; once the port is free the change is taken in.
func TestReloadThatCannotComeUp(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web, other := backend(t, "web"), backend(t, "other")
		dir := templateDir(t)
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "a.yaml": ingress("a", "a.example", []string{"/ Prefix web"}),
		}, "--template-dir", dir)
		s.waitBackend("http://a.example/", "web")

		taken, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer taken.Close()
		live, err := os.ReadFile(filepath.Join(s.state, "nginx.conf"))
		if err != nil {
			t.Fatal(err)
		}
		listenToo(t, dir, taken.Addr().(*net.TCPAddr).Port)
		s.waitLine("sync failed; what ran before goes on")
		s.waitBackend("http://a.example/", "web")
		eventually(t, "the former file to be put back", func() bool {
			now, err := os.ReadFile(filepath.Join(s.state, "nginx.conf"))
			return err == nil && string(now) == string(live)
		})
		s.write("web.yaml", service("web", other))
		s.waitBackend("http://a.example/", "other")

		taken.Close()
		eventually(t, "the port to be served", func() bool {
			connection, err := net.Dial("tcp", taken.Addr().String())
			if err != nil {
				return false
			}
			connection.Close()
			return true
		})
		s.waitBackend("http://a.example/", "other")
	})
}
