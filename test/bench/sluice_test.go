package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// sluice is a running sluice with its nginx.
type sluice struct {
	b       *testing.B
	command *exec.Cmd
	began   time.Time
	state   string
	output  string
	port    int
	exited  chan struct{}
}

// start runs sluice on a folder or file. It does not wait.
func start(b *testing.B, manifests string, arguments ...string) *sluice {
	b.Helper()
	s := &sluice{b: b, state: shortDir(b), output: filepath.Join(b.TempDir(), "log"), port: freePort(b), exited: make(chan struct{})}
	output, err := os.Create(s.output)
	if err != nil {
		b.Fatal(err)
	}
	defer output.Close()
	s.command = exec.Command(sluicePath, append([]string{
		"run", "--manifests", manifests, "--state-dir", s.state, "--nginx-root", nginxRoot,
		"--http-port", fmt.Sprint(s.port), "--https-port", fmt.Sprint(freePort(b)),
		"--healthz-host", "127.0.0.1", "--healthz-port", fmt.Sprint(freePort(b)), "--post-shutdown-grace-period", "2",
	}, arguments...)...)
	s.command.Stdout, s.command.Stderr = output, output
	s.began = time.Now()
	if err := s.command.Start(); err != nil {
		b.Fatal(err)
	}
	go func() {
		_ = s.command.Wait()
		close(s.exited)
	}()
	b.Cleanup(s.stop)
	return s
}

// shortDir gives a short path, because that of a unix socket may have 107 bytes.
func shortDir(b *testing.B) string {
	b.Helper()
	dir, err := os.MkdirTemp("", "slb")
	if err != nil {
		b.Fatal(err)
	}
	if err := os.Chmod(dir, 0o711); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func (s *sluice) pid() int { return s.command.Process.Pid }

// conf is the file that nginx runs.
func (s *sluice) conf() string { return filepath.Join(s.state, "nginx.conf") }

// stop ends sluice, which ends its nginx. If the benchmark failed, the end of
// the log is shown, with what sluice was doing; with -v, what it said of each
// sync.
func (s *sluice) stop() {
	end := syscall.SIGTERM
	if s.b.Failed() {
		end = syscall.SIGQUIT
	}
	all := append(descendants(s.pid()), s.pid())
	_ = s.command.Process.Signal(end)
	select {
	case <-s.exited:
	case <-time.After(20 * time.Second):
		_ = s.command.Process.Kill()
		<-s.exited
	}
	switch {
	case s.b.Failed():
		for _, pid := range all {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		s.b.Logf("log of sluice:\n%s", strings.Join(s.lines(""), ""))
	case testing.Verbose():
		s.b.Logf("syncs:\n%s", strings.Join(s.lines("msg=sync"), ""))
	}
}

// lines are those lines of the log that contain text, at most the last 200.
func (s *sluice) lines(text string) []string {
	content, err := os.ReadFile(s.output)
	if err != nil {
		s.b.Error(err)
	}
	var found []string
	for line := range strings.Lines(string(content)) {
		if strings.Contains(line, text) {
			found = append(found, line)
		}
	}
	return found[max(0, len(found)-200):]
}

// count counts the lines of the log that contain a text.
func (s *sluice) count(text string) int {
	content, err := os.ReadFile(s.output)
	if err != nil {
		s.b.Error(err)
	}
	return strings.Count(string(content), text)
}
