package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sluice/test/kit"
)

// sluice is a running sluice with its nginx, on a folder of manifests.
type sluice struct {
	*kit.Sluice
	t         *testing.T
	manifests string
	// binary, stdin, stderr and attributes are how the process is started.
	binary                string
	stdin, stdout, stderr *os.File
	attributes            *syscall.SysProcAttr
}

// start runs sluice on a new folder of manifests and waits until it is ready.
func start(t *testing.T, root string, manifests map[string]string, arguments ...string) *sluice {
	t.Helper()
	s := prepare(t, root, manifests, arguments...)
	s.launch()
	s.waitReady()
	s.waitLine("msg=sync ") // it comes after readiness, and is the start's own
	return s
}

// prepare makes folders and picks ports, but starts nothing.
func prepare(t *testing.T, root string, manifests map[string]string, arguments ...string) *sluice {
	t.Helper()
	s := &sluice{t: t, manifests: filepath.Join(t.TempDir(), "manifests"), binary: sluicePath}
	if err := os.Mkdir(s.manifests, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range manifests {
		s.write(name, content)
	}
	s.Sluice = kit.Prepare(t, root, s.manifests, arguments...)
	t.Cleanup(s.stop)
	return s
}

// launch starts the process.
func (s *sluice) launch() {
	s.t.Helper()
	command := exec.Command(s.binary, s.Arguments...)
	command.SysProcAttr = s.attributes
	if s.stdin != nil {
		command.Stdin = s.stdin
	}
	if s.stdout != nil {
		command.Stdout = s.stdout
	}
	if s.stderr != nil {
		command.Stderr = s.stderr
	}
	s.Start(s.t, command)
}

// stop ends sluice with SIGTERM and waits; the log is shown if the test failed.
func (s *sluice) stop() {
	if s.Process != nil {
		s.Stop(syscall.SIGTERM, kit.Patience)
	}
	s.noRace()
	if s.t.Failed() {
		s.t.Logf("log of sluice:\n%s", kit.Tail(s.lines(""), 200))
	}
}

// noRace fails the test with the report of the race detector, if there is one.
func (s *sluice) noRace() {
	content, err := os.ReadFile(string(s.Log))
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

// lines are the lines of the log that contain text.
func (s *sluice) lines(text string) []string { return s.Log.Lines(s.t, text) }

// reloads counts the confirmed reloads so far.
func (s *sluice) reloads() int { return s.Log.Reloads(s.t) }

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
	s.AwaitReady(s.t)
}

// write puts a manifest in place.
func (s *sluice) write(name, content string) {
	s.t.Helper()
	kit.Replace(s.t, filepath.Join(s.manifests, name), content)
}

func (s *sluice) remove(name string) {
	s.t.Helper()
	if err := os.Remove(filepath.Join(s.manifests, name)); err != nil {
		s.t.Fatal(err)
	}
}

// eventually polls until done, and fails the test after kit.Patience.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	kit.Await(t, what, done)
}
