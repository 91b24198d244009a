package kit

import (
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"testing"
)

// Sluice is a sluice with its nginx, on its own ports. It can be started again after
// its end.
type Sluice struct {
	// Process is the process of the last start; nil before the first.
	*Process
	// Arguments are those of the command line.
	Arguments []string
	// State is the state directory.
	State string
	// Log contains the output of all processes so far.
	Log                  Log
	HTTP, HTTPS, Healthz int
}

// Prepare picks a state directory and ports for a sluice that reads manifests and
// runs the nginx of a root file system. It starts nothing. Flags in more override
// those of Prepare.
func Prepare(t testing.TB, root, manifests string, more ...string) *Sluice {
	t.Helper()
	s := &Sluice{State: StateDir(t), Log: Log(filepath.Join(t.TempDir(), "log")), HTTP: Port(t), HTTPS: Port(t), Healthz: Port(t)}
	s.Arguments = append([]string{
		"run", "--manifests", manifests, "--state-dir", s.State, "--nginx-root", root,
		"--http-port", fmt.Sprint(s.HTTP), "--https-port", fmt.Sprint(s.HTTPS),
		"--healthz-host", "127.0.0.1", "--healthz-port", fmt.Sprint(s.Healthz), "--post-shutdown-grace-period", "2",
	}, more...)
	return s
}

// Start starts a command as the sluice; it need not be ready when this returns.
func (s *Sluice) Start(t testing.TB, command *exec.Cmd) {
	t.Helper()
	s.Process = Start(t, command, s.Log)
}

// Ready returns the status of /readyz, 0 if nothing answers.
func (s *Sluice) Ready() int {
	response, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/readyz", s.Healthz))
	if err != nil {
		return 0
	}
	response.Body.Close()
	return response.StatusCode
}

// AwaitReady waits until sluice is ready.
func (s *Sluice) AwaitReady(t testing.TB) {
	t.Helper()
	Await(t, "readiness", func() bool {
		s.MustRun(t)
		return s.Ready() == http.StatusOK
	})
}

// MustRun fails the test if sluice has ended.
func (s *Sluice) MustRun(t testing.TB) {
	t.Helper()
	if s.Ended() {
		t.Fatalf("sluice ended: %v\n%s", s.Err, s.Log.Text(t))
	}
}
