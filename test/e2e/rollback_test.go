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
	const anchor = "sendfile on;\n"
	changeTemplate(t, dir, "http.tmpl", anchor, fmt.Sprintf("%sserver {\nlisten 127.0.0.1:%d;\nreturn 204;\n}\n", anchor, port))
}

// TestReloadThatCannotComeUp: a taken port passes nginx's test and fails the
// reload. The former file is put back, everything goes on, and endpoints still
// change; once the port is free the change is taken in.
func TestReloadThatCannotComeUp(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web, other := backend(t, "web"), backend(t, "other")
		dir := templateDir(t)
		s := start(t, root, oneHost(web), "--template-dir", dir)
		s.waitBackend("http://a.example/", "web")

		taken, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer taken.Close()
		live, err := os.ReadFile(filepath.Join(s.State, "nginx.conf"))
		if err != nil {
			t.Fatal(err)
		}
		listenToo(t, dir, taken.Addr().(*net.TCPAddr).Port)
		s.waitLine("sync failed; nginx keeps its configuration")
		s.waitBackend("http://a.example/", "web")
		eventually(t, "the former file to be put back", func() bool {
			now, err := os.ReadFile(filepath.Join(s.State, "nginx.conf"))
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

// TestDeletedIngressesThatAreServed: while no reload succeeds, nginx serves Ingresses that were
// deleted or that left the class, and the metrics count them.
func TestDeletedIngressesThatAreServed(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		manifests, dir := oneHost(backend(t, "web")), templateDir(t)
		for _, name := range []string{"b", "c"} {
			manifests[name+".yaml"] = ingress(name, name+".example", []string{"/ Prefix web"})
		}
		s := start(t, root, manifests, "--template-dir", dir, "--enable-metrics")
		deleted := func() float64 { return sumOf(s.scrape(nil)["sluice_ingresses"], "state=deleted") }
		s.waitBackend("http://c.example/", "web")
		if n := deleted(); n != 0 {
			t.Errorf("%v Ingresses are deleted before any was", n)
		}
		taken, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer taken.Close()
		listenToo(t, dir, taken.Addr().(*net.TCPAddr).Port)
		s.waitLine("sync failed; nginx keeps its configuration")
		s.remove("b.yaml")
		eventually(t, "one that was deleted", func() bool { return deleted() == 1 })
		s.write("c.yaml", strings.Replace(manifests["c.yaml"], "ingressClassName: nginx", "ingressClassName: other", 1))
		eventually(t, "one that left the class", func() bool { return deleted() == 2 })
		s.waitBackend("http://b.example/", "web")
		taken.Close()
		eventually(t, "neither", func() bool { return deleted() == 0 })
		s.waitStatus("http://b.example/", 404)
		s.waitStatus("http://c.example/", 404)
	})
}

// TestTemplatesThatNginxRefuses: templates of a folder are taken while sluice
// runs; those that nginx refuses are not, and nobody is quarantined for them.
func TestTemplatesThatNginxRefuses(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		dir := templateDir(t)
		s := start(t, root, oneHost(web), "--template-dir", dir)
		s.waitBackend("http://a.example/", "web")
		changeTemplate(t, dir, "server.tmpl", "server {\n", "server {\nno_such_directive on;\n")
		s.waitLine("templates rejected")
		s.write("b.yaml", ingress("b", "b.example", []string{"/ Prefix web"}))
		s.waitBackend("http://b.example/", "web")
		s.waitBackend("http://a.example/", "web")
		if refused := s.lines("reason=Refused"); len(refused) > 0 {
			t.Errorf("somebody was blamed for the templates: %s", refused[0])
		}
		restoreTemplate(t, dir, "server.tmpl")
		changeTemplate(t, dir, "server.tmpl", "server {\n", "server {\nadd_header X-Folder yes;\n")
		eventually(t, "the header of the new templates", func() bool {
			a, err := s.get("http://a.example/")
			return err == nil && a.header.Get("X-Folder") == "yes"
		})
	})
}

// changeTemplate replaces text of a template in a folder, which must be there.
func changeTemplate(t *testing.T, dir, name, from, to string) {
	t.Helper()
	path := filepath.Join(dir, name)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(content), from, to, 1)
	if changed == string(content) {
		t.Fatalf("%s does not contain %q", name, from)
	}
	if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
}

func restoreTemplate(t *testing.T, dir, name string) {
	t.Helper()
	content, err := fs.ReadFile(templates.Files, name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestNginxIsKilledWhileAPlanIsRefused for a global reason: the templates listen on
// a port that is taken. What was served is served again, and readiness comes back.
func TestNginxIsKilledWhileAPlanIsRefused(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		for _, crash := range crashes()[:2] {
			t.Run(crash.name, func(t *testing.T) {
				dir := templateDir(t)
				s := start(t, root, oneHost(backend(t, "web")), "--template-dir", dir)
				s.waitBackend("http://a.example/", "web")
				taken, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				defer taken.Close()
				listenToo(t, dir, taken.Addr().(*net.TCPAddr).Port)
				s.waitLine("sync failed; nginx keeps its configuration")
				former := s.master()
				crash.kill(t, former, workers(former))
				eventually(t, "another master", func() bool { now := s.master(); return now != 0 && now != former })
				s.waitBackend("http://a.example/", "web")
				s.waitReady()
			})
		}
	})
}
