package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"sluice/internal/debugapi"
	"sluice/internal/model"
	"sluice/test/kit"
	"sluice/test/program"
)

// look runs sluice debug get beside the running sluice, and gives its two outputs.
func (s *sluice) look(path string) (out, said string, err error) {
	s.t.Helper()
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(s.t.Context(), s.binary, "debug", "get", path, "--state-dir", s.State)
	command.Stdout, command.Stderr = &stdout, &stderr
	err = command.Run()
	return stdout.String(), stderr.String(), err
}

// view looks and must succeed.
func (s *sluice) view(path string) string {
	s.t.Helper()
	out, said, err := s.look(path)
	if err != nil || said != "" {
		s.t.Fatalf("debug get %s: %v %s", path, err, said)
	}
	return out
}

// viewed gives what a view says as JSON.
func viewed[T any](s *sluice, path string) T {
	s.t.Helper()
	var value T
	if err := json.Unmarshal([]byte(s.view(path)), &value); err != nil {
		s.t.Fatalf("%s is not what it should be: %v", path, err)
	}
	return value
}

// runs says whether a text is what nginx runs: the file that it loaded last.
func (s *sluice) runs(conf string) bool {
	live, err := os.ReadFile(filepath.Join(s.State, "nginx.conf"))
	return err == nil && string(live) == conf
}

// TestEachViewShowsAChange: an Ingress, its endpoints and its certificate change,
// and each view tells so as soon as it is served.
func TestEachViewShowsAChange(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		first, second := backend(t, "first"), backend(t, "second")
		pair := newKeyPair(t, 41, "a.example")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", first), "tls.yaml": secret("a-tls", pair),
			"a.yaml": ingress("a", "a.example", []string{"/ Prefix web"}, "ssl-redirect: false"),
		})
		s.waitBackend("http://a.example/", "first")
		before := viewed[debugapi.General](s, "/general")
		if !before.Ready || !before.Nginx.Answers || before.LastApply == nil || before.Counts.Ingresses != 1 || before.Leader != nil {
			t.Errorf("at the start: %+v", before)
		}

		s.write("a.yaml", withTLS(ingress("a", "a.example", []string{"/ Prefix web", "/new Exact web"}, "ssl-redirect: false"), "a-tls", "a.example"))
		s.write("web.yaml", service("web", second))
		eventually(t, "the new certificate", s.presents("a.example", 41))
		s.waitBackend("http://a.example/new", "second")
		eventually(t, "the confirmation of what is served", func() bool { return strings.Contains(s.view("/conf"), `"/new"`) })

		conf := s.view("/conf")
		after := viewed[debugapi.General](s, "/general")
		if !s.runs(conf) || after.ConfHash == before.ConfHash || after.Nginx.Load <= before.Nginx.Load || after.Counts.Locations <= before.Counts.Locations {
			t.Errorf("conf is what nginx runs: %t; before %+v, after %+v", s.runs(conf), before, after)
		}
		rows := viewed[[]debugapi.Route](s, "/routes?host=a.example")
		if !slices.ContainsFunc(rows, func(r debugapi.Route) bool { return r.Match == "exact" && r.Path == "/new" && r.Object.Name == "a" }) {
			t.Errorf("routes: %+v", rows)
		}
		backends := viewed[[]debugapi.Backend](s, "/backends?name=default-web-80")
		if want := []debugapi.Endpoint{{Address: "127.0.0.1", Port: portOf(second)}}; len(backends) != 1 || !slices.Equal(backends[0].Endpoints, want) {
			t.Errorf("backends: %+v, want the endpoint %v", backends, want)
		}
		certificates := viewed[[]debugapi.Certificate](s, "/certs?host=a.example")
		if len(certificates) != 1 || certificates[0].Serial != "41" || certificates[0].Chain != string(pair.certificate) || certificates[0].Secrets[0].Name != "a-tls" {
			t.Errorf("certs: %+v", certificates)
		}
		if text := s.view("/explain?url=http://a.example/new"); !strings.Contains(text, "goes to Service default/web:80 by Ingress default/a, spec.rules[0].http.paths[1]") {
			t.Errorf("explain: %s", text)
		}
		for _, path := range []string{"/conf?format=json", "/backends", "/certs", "/general", "/routes", "/problems", "/explain?url=https://a.example/"} {
			if text := s.view(path); strings.Contains(text, "PRIVATE KEY") || strings.Contains(text, strings.Split(string(pair.key), "\n")[1]) {
				t.Errorf("%s tells the private key", path)
			}
		}
	})
}

// TestDebugSocketIsPrivate: only its owner can enter it, and it goes with sluice.
func TestDebugSocketIsPrivate(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		s := start(t, root, oneHost(backend(t, "web")))
		socket := filepath.Join(s.State, debugapi.Socket)
		info, err := os.Stat(socket)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != fs.ModeSocket|0o600 {
			t.Errorf("its mode is %v", info.Mode())
		}
		if _, said, err := s.look("/conf?host=b.example"); err == nil || said != "sluice: host: no server has the host or the alias \"b.example\"\n" {
			t.Errorf("what is not there: %v %q", err, said)
		}
		s.Stop(syscall.SIGTERM, kit.Patience)
		if _, err := os.Stat(socket); err == nil {
			t.Error("it is still there after the end")
		}
		if _, said, err := s.look("/general"); err == nil || said != "sluice: no controller runs with this state directory: nobody listens on "+socket+"\n" {
			t.Errorf("after the end: %v %q", err, said)
		}
		s.launch()
		s.waitReady()
		s.Process.Command.Process.Kill()
		<-s.Exited
		s.launch() // over the socket that was left behind
		s.waitReady()
		if !s.runs(s.view("/conf")) {
			t.Error("after a kill conf is not what nginx runs")
		}
	})
}

// TestDebugTellsOfQuarantine: what nginx refused is a problem, and what is told
// besides is what runs: the last good form.
func TestDebugTellsOfQuarantine(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, oneHost(web))
		s.waitBackend("http://a.example/", "web")
		good := s.view("/conf")
		s.write("a.yaml", bad("a", "a.example"))
		eventually(t, "the refusal among the problems", func() bool {
			problems := viewed[[]model.Problem](s, "/problems?ingress=default/a")
			return slices.ContainsFunc(problems, func(p model.Problem) bool { return p.Reason == model.Refused })
		})
		if conf := s.view("/conf"); conf != good || !s.runs(conf) {
			t.Error("conf is not what nginx runs, the last good form")
		}
		if text := s.view("/explain?url=http://a.example/x"); !strings.Contains(text, "goes to Service default/web:80") {
			t.Errorf("explain: %s", text)
		}
		s.write("a.yaml", ingress("a", "a.example", []string{"/mended Prefix web"}))
		s.waitBackend("http://a.example/mended", "web")
		eventually(t, "no problem any more", func() bool { return s.view("/problems") == "[]\n" })
	})
}

// TestDebugAnswersWithoutNginx: nginx dies and does not come back; what it ran can
// still be looked at.
func TestDebugAnswersWithoutNginx(t *testing.T) {
	binary, err := exec.LookPath("nginx")
	if err != nil {
		binary = "/usr/sbin/nginx"
	}
	dir := t.TempDir()
	wrapper, broken := filepath.Join(dir, "nginx"), filepath.Join(dir, "broken")
	script := fmt.Sprintf("#!/bin/sh\nif [ -e %s ]; then echo broken >&2; exit 1; fi\nexec %s \"$@\"\n", broken, binary)
	program.Write(t, wrapper, script)
	web := httptest.NewServer(echo("web"))
	defer web.Close()
	s := start(t, "/", oneHost(web), "--nginx-binary", wrapper)
	s.waitBackend("http://a.example/", "web")
	conf := s.view("/conf")
	if err := os.WriteFile(broken, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	kill(t, s.master())
	eventually(t, "word of its death", func() bool {
		g := viewed[debugapi.General](s, "/general")
		return !g.Ready && !g.Nginx.Answers && g.Nginx.Error != ""
	})
	if s.view("/conf") != conf || len(viewed[[]debugapi.Route](s, "/routes?host=a.example")) == 0 {
		t.Error("what nginx ran is not told any more")
	}
	if err := os.Remove(broken); err != nil {
		t.Fatal(err)
	}
	s.waitBackend("http://a.example/", "web")
	eventually(t, "word of its return", func() bool { g := viewed[debugapi.General](s, "/general"); return g.Ready && g.Nginx.Answers })
}
