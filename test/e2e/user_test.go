package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sluice/test/kit"
	"sluice/test/program"
)

// nobody is an ordinary user that owns nothing.
const nobody = 65534

// TestOrdinaryUserWritesOnlyToItsState runs everything as an ordinary user and
// looks at each file that its processes have open for writing.
func TestOrdinaryUserWritesOnlyToItsState(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := prepare(t, root, oneHost(web))
		s.asNobody()
		s.launch()
		s.waitReady()
		s.waitBackend("http://a.example/", "web")
		looked := 0
		for _, pid := range append(s.processes(), s.PID()) {
			for _, path := range writable(t, pid) {
				looked++
				if !strings.HasPrefix(path, s.State+"/") && path != string(s.Log) {
					t.Errorf("process %d writes to %s", pid, path)
				}
			}
		}
		if looked == 0 {
			t.Error("no file is open for writing: the test looks at nothing")
		}
	})
}

// asNobody makes the next launch run as an ordinary user who may write to the
// state directory only. Who runs the tests as one is that user already.
func (s *sluice) asNobody() {
	s.t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	binary := filepath.Join(s.State, "sluice")
	copyFile(s.t, sluicePath, binary)
	for _, path := range []string{s.State, binary} {
		if err := os.Chown(path, nobody, nobody); err != nil {
			s.t.Fatal(err)
		}
	}
	for dir := filepath.Dir(s.manifests); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			s.t.Fatal(err)
		}
	}
	s.binary = binary
	s.attributes = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	program.Write(t, to, string(content))
}

// writable lists the regular files that a process has open for writing
// (proc(5): the access mode is in the last octal digit of flags).
func writable(t *testing.T, pid int) []string {
	t.Helper()
	descriptors, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, descriptor := range descriptors {
		path, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", pid, descriptor.Name()))
		if err != nil || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "/dev/") {
			continue
		}
		info, err := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%s", pid, descriptor.Name()))
		if err == nil && mayWrite(string(info)) {
			found = append(found, strings.TrimSuffix(path, " (deleted)"))
		}
	}
	return found
}

func mayWrite(info string) bool {
	for line := range strings.Lines(info) {
		if flags, ok := strings.CutPrefix(line, "flags:"); ok {
			flags = strings.TrimSpace(flags)
			return flags[len(flags)-1] != '0'
		}
	}
	return false
}

// TestNginxThatSomethingElseRuns: sluice leaves a first file, waits for the
// nginx, and from then on reloads it by signal; a restart of it is noticed.
func TestNginxThatSomethingElseRuns(t *testing.T) {
	for _, nginx := range kit.Nginxes(t) {
		t.Run(nginx.Name, func(t *testing.T) { reloadsAnother(t, nginx) })
	}
}

func reloadsAnother(t *testing.T, nginx kit.Nginx) {
	web := backend(t, "web")
	s := prepare(t, nginx.Root, oneHost(web))
	s.set("--nginx-pid-file", filepath.Join(s.State, "nginx.pid"))
	s.launch()
	s.waitLine("waiting for nginx")
	other := startNginx(t, nginx, s.State)
	s.waitReady()
	s.waitBackend("http://a.example/", "web")
	s.write("a.yaml", ingress("a", "a.example", []string{"/new Prefix web"}))
	s.waitBackend("http://a.example/new", "web")

	stopNginx(other)
	other = startNginx(t, nginx, s.State)
	s.waitBackend("http://a.example/new", "web")
	s.stop()
	if !alive(other.PID()) {
		t.Error("sluice ended an nginx that is not its own")
	}
}

// startNginx runs an nginx as another supervisor would.
func startNginx(t *testing.T, nginx kit.Nginx, state string) *kit.Process {
	t.Helper()
	command := nginx.Call("-p", state, "-c", filepath.Join(state, "nginx.conf"), "-e", "stderr", "-g", "daemon off;")
	other := kit.Start(t, command, kit.Log(filepath.Join(t.TempDir(), "log")))
	t.Cleanup(func() { stopNginx(other) })
	return other
}

func stopNginx(other *kit.Process) { other.Stop(syscall.SIGTERM, kit.Patience) }
