package e2e

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sluice/test/program"
)

// fails runs sluice and wants it to end with one line that has all the words.
func fails(t *testing.T, s *sluice, words ...string) {
	t.Helper()
	s.launch()
	s.ended()
	if s.Err == nil {
		t.Fatal("sluice ended without an error")
	}
	var last string
	eventually(t, "the error", func() bool {
		lines := s.lines("sluice: ")
		if len(lines) > 0 {
			last = lines[len(lines)-1]
		}
		return last != ""
	})
	for _, word := range words {
		if !strings.Contains(last, word) {
			t.Errorf("want %q in the error, got: %s", word, last)
		}
	}
}

// startError is a value of a flag that sluice does not start with.
type startError struct {
	name  string
	flag  string
	value func(t *testing.T, s *sluice) string
	words []string
}

// value gives a flag the same value for every sluice.
func value(text string) func(*testing.T, *sluice) string {
	return func(*testing.T, *sluice) string { return text }
}

// failEach starts a sluice with each of the values, on the nginx of a root.
func failEach(t *testing.T, root string, cases []startError) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := prepare(t, root, map[string]string{"class.yaml": class})
			s.set(c.flag, c.value(t, s))
			fails(t, s, c.words...)
		})
	}
}

// TestStartErrors are those for which an nginx was looked for or asked.
func TestStartErrors(t *testing.T) {
	takenPort := func(t *testing.T, _ *sluice) string { return fmt.Sprint(takePort(t)) }
	longPath := func(_ *testing.T, s *sluice) string { return s.State + "/" + strings.Repeat("x", 100) }
	oneNginx(t, func(t *testing.T, root string) {
		failEach(t, root, []startError{
			{"port in use", "--http-port", takenPort, []string{"in use"}},
			{"health port in use", "--healthz-port", takenPort, []string{"--healthz-port", "in use"}},
			{"nginx missing", "--nginx-binary", value("/nowhere/nginx"), []string{"nginx", "apt-get install"}},
			{"state directory with a long path", "--state-dir", longPath, []string{"--state-dir", "at most 90 bytes"}},
			{"state directory that cannot be made", "--state-dir", value("/proc/sluice"), []string{"--state-dir", "/proc/sluice"}},
		})
	})
}

// TestFlagErrors are found before an nginx is looked for, or with a program in
// its place: no nginx makes a difference, so they run once.
func TestFlagErrors(t *testing.T) {
	nginxOf := func(version string) func(*testing.T, *sluice) string {
		return func(t *testing.T, _ *sluice) string { return fakeNginx(t, version) }
	}
	within := func(name string) func(*testing.T, *sluice) string {
		return func(_ *testing.T, s *sluice) string { return s.manifests + name }
	}
	failEach(t, "/", []startError{
		{"folder missing", "--manifests", within("/nowhere"), []string{"nowhere", "no such file"}},
		{"nginx too old", "--nginx-binary", nginxOf("1.18.0"), []string{"1.18.0", "1.22"}},
		{"Lua module missing", "--nginx-binary", nginxOf("1.24.0"), []string{"libnginx-mod-http-lua"}},
		{"state directory within the manifests", "--state-dir", within("/state"), []string{"--state-dir", "outside of --manifests"}},
		{"root that is missing", "--nginx-root", value("/nowhere"), []string{"--nginx-root", "/nowhere", "no such file"}},
		{"log format", "--log-format", value("yaml"), []string{"--log-format", "text or json", "yaml"}},
		{"port out of range", "--http-port", value("65536"), []string{"--http-port", "from 1 to 65535", "65536"}},
		{"negative grace", "--post-shutdown-grace-period", value("-1"), []string{"--post-shutdown-grace-period", "from 0 to", "-1"}},
		{"health path without a slash", "--health-check-path", value("healthz"), []string{"--health-check-path", "healthz"}},
		{"health path of readiness", "--health-check-path", value("/readyz"), []string{"--health-check-path", "/readyz"}},
		{"rate limit", "--sync-rate-limit", value("NaN"), []string{"--sync-rate-limit", "more than 0"}},
		{"prefix", "--annotations-prefix", value(""), []string{"--annotations-prefix"}},
		{"prefix with a space", "--annotations-prefix", value("a b"), []string{"--annotations-prefix", "DNS subdomain", "a b"}},
		{"template folder", "--template-dir", value("/nowhere"), []string{"--template-dir", "/nowhere"}},
		{"bad flag value", "--configmap", value("nonsense"), []string{"--configmap", "NAMESPACE/NAME", "nonsense"}},
	})
}

// set gives a flag a value, instead of the one that it has.
func (s *sluice) set(flag, value string) {
	if at := slices.Index(s.Arguments, flag); at >= 0 {
		s.Arguments[at+1] = value
		return
	}
	s.Arguments = append(s.Arguments, flag, value)
}

// unset takes a flag and its value away.
func (s *sluice) unset(flag string) {
	if at := slices.Index(s.Arguments, flag); at >= 0 {
		s.Arguments = slices.Delete(s.Arguments, at, at+2)
	}
}

// takePort listens on a port of all addresses until the test ends.
func takePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener.Addr().(*net.TCPAddr).Port
}

// fakeNginx is a program that answers -V as some nginx without modules.
func fakeNginx(t *testing.T, version string) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "nginx")
	script := fmt.Sprintf("#!/bin/sh\necho 'nginx version: nginx/%s' >&2\necho 'configure arguments: --modules-path=%s' >&2\n", version, dir)
	program.Write(t, path, script)
	return path
}

// TestEmptyFolder serves 404 and waits for something to come.
func TestEmptyFolder(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, nil)
		s.waitStatus("http://a.example/", 404)
		s.write("all.yaml", class+service("web", web)+ingress("a", "a.example", []string{"/ Prefix web"}))
		s.waitBackend("http://a.example/", "web")
	})
}

// TestFilesThatAreBroken: each is reported by name and keeps nothing else back.
func TestFilesThatAreBroken(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "a.yaml": ingress("a", "a.example", []string{"/ Prefix web"}),
			"not-yaml.yaml": "{{{", "unknown-field.yaml": strings.Replace(ingress("b", "b.example", []string{"/ Prefix web"}), "spec:", "speck: 1\nspec:", 1),
			"wrong-type.yaml": strings.Replace(ingress("c", "c.example", []string{"/ Prefix web"}), "number: 80", "number: eighty", 1),
		})
		s.waitBackend("http://a.example/", "web")
		for _, want := range []string{"not-yaml.yaml", "unknown-field.yaml", "speck", "wrong-type.yaml"} {
			s.waitLine(want)
		}
		unreadable := filepath.Join(s.manifests, "dangling.yaml")
		if err := os.Symlink("/nowhere/at/all", unreadable); err != nil {
			t.Fatal(err)
		}
		s.write("b.yaml", ingress("b", "b.example", []string{"/ Prefix web"}))
		s.waitBackend("http://b.example/", "web")
	})
}

// TestMegabyteOfAnnotations does not disturb anybody.
func TestMegabyteOfAnnotations(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, oneHost(web))
		s.write("big.yaml", ingress("big", "big.example", []string{"/ Prefix web"}, "cors-allow-origin: "+strings.Repeat("https://x.example, ", 55000), "enable-cors: true"))
		s.waitBackend("http://a.example/", "web")
		s.write("b.yaml", ingress("b", "b.example", []string{"/ Prefix web"}))
		s.waitBackend("http://b.example/", "web")
	})
}

// TestTenThousandIngressesInOneFile are all served.
func TestTenThousandIngressesInOneFile(t *testing.T) {
	oneNginxAlone(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		var many strings.Builder
		many.WriteString(class + service("web", web))
		for i := range 10_000 {
			many.WriteString(ingress(fmt.Sprintf("i%d", i), fmt.Sprintf("h%d.example", i), []string{"/ Prefix web"}))
		}
		s := start(t, root, map[string]string{"many.yaml": many.String()})
		s.waitBackend("http://h0.example/", "web")
		s.waitBackend("http://h9999.example/", "web")
	})
}

// TestFilesThatVanishWhileRead: files come and go all the time while sluice
// reads; what stays is served in the end.
func TestFilesThatVanishWhileRead(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{"class.yaml": class, "web.yaml": service("web", web)})
		for i := range 200 {
			name := fmt.Sprintf("f%d.yaml", i)
			s.write(name, ingress(fmt.Sprintf("i%d", i), fmt.Sprintf("h%d.example", i), []string{"/ Prefix web"}))
			if i%2 == 0 {
				s.remove(name)
			}
		}
		s.waitBackend("http://h199.example/", "web")
		s.waitStatus("http://h198.example/", 404)
		for _, line := range s.lines("level=ERROR") {
			t.Errorf("an error was logged: %s", line)
		}
	})
}
