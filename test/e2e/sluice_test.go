package e2e

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait for something that must happen; the race detector
// makes sluice several times slower.
var patience = waitFor()

func waitFor() time.Duration {
	if os.Getenv("SLUICE_RACE") == "1" {
		return time.Minute
	}
	return 20 * time.Second
}

// sluice is a running sluice with its nginx.
type sluice struct {
	t         *testing.T
	command   *exec.Cmd
	manifests string
	state     string
	http      int
	https     int
	healthz   int
	arguments []string
	exited    chan struct{}
	exitErr   error
	output    string
	// binary, stdin and attributes are how the process is started.
	binary     string
	stdin      *os.File
	attributes *syscall.SysProcAttr
}

// start runs sluice on a new folder of manifests and waits until it is ready.
func start(t *testing.T, root string, manifests map[string]string, arguments ...string) *sluice {
	t.Helper()
	s := prepare(t, root, manifests, arguments...)
	s.launch()
	s.waitReady()
	return s
}

// prepare makes folders and picks ports, but starts nothing.
func prepare(t *testing.T, root string, manifests map[string]string, arguments ...string) *sluice {
	t.Helper()
	dir := t.TempDir()
	s := &sluice{t: t, manifests: filepath.Join(dir, "manifests"), output: filepath.Join(dir, "log"), state: stateDir(t), binary: sluicePath}
	s.http, s.https, s.healthz = freePort(t), freePort(t), freePort(t)
	if err := os.Mkdir(s.manifests, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range manifests {
		s.write(name, content)
	}
	s.arguments = append([]string{
		"run", "--manifests", s.manifests, "--state-dir", s.state, "--nginx-root", root,
		"--http-port", fmt.Sprint(s.http), "--https-port", fmt.Sprint(s.https),
		"--healthz-host", "127.0.0.1", "--healthz-port", fmt.Sprint(s.healthz), "--post-shutdown-grace-period", "2",
	}, arguments...)
	t.Cleanup(s.stop)
	return s
}

// stateDir is short, because the path of a unix socket may have 107 bytes.
func stateDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "slc")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// launch starts the process. Its output goes to a file and not to a pipe, which
// an nginx that outlives its sluice would hold open.
func (s *sluice) launch() {
	s.t.Helper()
	output, err := os.OpenFile(s.output, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		s.t.Fatal(err)
	}
	defer output.Close()
	s.command = exec.Command(s.binary, s.arguments...)
	s.command.SysProcAttr = s.attributes
	s.command.Stdout, s.command.Stderr = output, output
	if s.stdin != nil {
		s.command.Stdin = s.stdin
	}
	if err := s.command.Start(); err != nil {
		s.t.Fatal(err)
	}
	command, exited := s.command, make(chan struct{})
	s.exited = exited
	go func() {
		s.exitErr = command.Wait()
		close(exited)
	}()
}

// stop ends sluice with SIGTERM and waits; the log is shown if the test failed.
func (s *sluice) stop() {
	if s.command != nil && s.command.Process != nil {
		_ = s.command.Process.Signal(syscall.SIGTERM)
		select {
		case <-s.exited:
		case <-time.After(patience):
			_ = s.command.Process.Kill()
			<-s.exited
		}
	}
	s.noRace()
	if s.t.Failed() {
		s.t.Logf("log of sluice:\n%s", strings.Join(tail(s.lines(""), 200), "\n"))
	}
}

// noRace fails the test with the report of the race detector, if there is one.
func (s *sluice) noRace() {
	content, err := os.ReadFile(s.output)
	if err != nil {
		return // it was never started
	}
	_, report, found := strings.Cut(string(content), "WARNING: DATA RACE")
	if !found {
		return
	}
	report, _, _ = strings.Cut(report, "==================")
	s.t.Errorf("data race in sluice:%s", report)
}

func tail(lines []string, n int) []string {
	return lines[max(0, len(lines)-n):]
}

// lines are the lines of the log that contain text.
func (s *sluice) lines(text string) []string {
	content, err := os.ReadFile(s.output)
	if err != nil {
		s.t.Error(err)
	}
	var found []string
	for line := range strings.Lines(string(content)) {
		if strings.Contains(line, text) {
			found = append(found, strings.TrimSuffix(line, "\n"))
		}
	}
	return found
}

// reloads counts the confirmed reloads so far.
func (s *sluice) reloads() int {
	count := 0
	for _, line := range s.lines("msg=sync ") {
		if strings.Contains(line, "reload=true") {
			count++
		}
	}
	return count
}

// noReloadSince fails the test if there were more reloads than before.
func (s *sluice) noReloadSince(before int, why string) {
	s.t.Helper()
	if now := s.reloads(); now != before {
		s.t.Errorf("%d reloads for %s", now-before, why)
	}
}

// waitLine waits for a line of the log that contains text.
func (s *sluice) waitLine(text string) {
	s.t.Helper()
	eventually(s.t, "a log line with "+text, func() bool { return len(s.lines(text)) > 0 })
}

func (s *sluice) waitReady() {
	s.t.Helper()
	eventually(s.t, "readiness", func() bool {
		select {
		case <-s.exited:
			s.t.Fatalf("sluice ended: %v\n%s", s.exitErr, strings.Join(s.lines(""), "\n"))
		default:
		}
		return s.ready() == http.StatusOK
	})
}

// ready asks /readyz and gives the status, 0 if nothing answers.
func (s *sluice) ready() int {
	response, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/readyz", s.healthz))
	if err != nil {
		return 0
	}
	response.Body.Close()
	return response.StatusCode
}

// write puts a manifest in place as editors do: a new file renamed over the old.
func (s *sluice) write(name, content string) {
	s.t.Helper()
	path := filepath.Join(s.manifests, name)
	if err := os.WriteFile(path+".part~", []byte(content), 0o644); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(path+".part~", path); err != nil {
		s.t.Fatal(err)
	}
}

func (s *sluice) remove(name string) {
	s.t.Helper()
	if err := os.Remove(filepath.Join(s.manifests, name)); err != nil {
		s.t.Fatal(err)
	}
}

// eventually polls until done, and fails the test after patience.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !done() {
		if time.Now().After(deadline) {
			t.Fatalf("waited %s in vain for %s", patience, what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// freePort gives a port that nobody uses, of those that the kernel does not
// give to outgoing connections: one of these would keep nginx from listening.
// Source: ip(7), ip_local_port_range, from 32768 on as a rule.
func freePort(t *testing.T) int {
	t.Helper()
	for range 1000 {
		port := 10_000 + rand.IntN(22_000)
		listener, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
		if err != nil {
			continue
		}
		listener.Close()
		return port
	}
	t.Fatal("no free port found")
	return 0
}
