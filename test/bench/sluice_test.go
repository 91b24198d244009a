package bench

import (
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sluice/test/bench/measure"
	"sluice/test/kit"
)

// sluice is a running sluice with its nginx.
type sluice struct {
	*kit.Sluice
	b     *testing.B
	began time.Time
}

// start runs sluice on a folder or file. It does not wait.
func start(b *testing.B, manifests string, arguments ...string) *sluice {
	b.Helper()
	s := &sluice{b: b, Sluice: kit.Prepare(b, installed.Root, manifests, arguments...)}
	command := exec.Command(sluicePath, s.Arguments...)
	s.began = time.Now()
	s.Start(b, command)
	b.Cleanup(s.stop)
	return s
}

// conf is the file that nginx runs.
func (s *sluice) conf() string { return filepath.Join(s.State, "nginx.conf") }

// stop ends sluice, which ends its nginx. If the benchmark failed, the end of
// the log is shown, with what sluice was doing; with -v, what it said of each
// sync.
func (s *sluice) stop() {
	end := syscall.SIGTERM
	if s.b.Failed() {
		end = syscall.SIGQUIT
	}
	all := append(measure.Descendants(s.PID()), s.PID())
	s.Stop(end, 20*time.Second)
	switch {
	case s.b.Failed():
		for _, pid := range all {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		s.b.Logf("log of sluice:\n%s", kit.Tail(s.Log.Lines(s.b, ""), 200))
	case testing.Verbose():
		s.b.Logf("syncs:\n%s", kit.Tail(s.Log.Lines(s.b, "msg=sync"), 200))
	}
}

// count counts how often a text is in the log.
func (s *sluice) count(text string) int { return strings.Count(s.Log.Text(s.b), text) }
