package cluster

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"sluice/test/kit"
)

// Sluice is a sluice that reads a cluster, with its nginx, on ports of its own.
// It can be started, and again after its end.
type Sluice struct {
	*kit.Sluice
	// Environment is set beside that of the tests; of a name given twice, the
	// last counts. It begins with POD_NAME and POD_NAMESPACE.
	Environment []string
}

// SluicePath is the binary that Main has built.
func SluicePath() string { return os.Getenv(sluiceVariable) }

// prepared counts the sluices, so that each has a pod's name of its own.
var prepared atomic.Int64

// PrepareSluice picks a state directory and ports for a sluice that has the
// access of a kubeconfig, and starts nothing. It says that it is the pod
// sluice-1 (2, 3, ...) of the namespace default. Of a flag that is given in more
// again, the last counts. It is ended with the test, and its log shown if the
// test has failed.
func PrepareSluice(t testing.TB, kubeconfig string, more ...string) *Sluice {
	t.Helper()
	nginx, err := kit.BestNginx()
	if err != nil {
		t.Fatalf("an nginx to test with is missing (`make setup` installs it): %v", err)
	}
	s := &Sluice{
		Sluice:      &kit.Sluice{State: kit.StateDir(t), Log: kit.Log(filepath.Join(t.TempDir(), "log")), HTTP: kit.Port(t), HTTPS: kit.Port(t), Healthz: kit.Port(t)},
		Environment: []string{fmt.Sprintf("POD_NAME=sluice-%d", prepared.Add(1)), "POD_NAMESPACE=default"},
	}
	s.Arguments = append([]string{
		"run", "--kubeconfig", kubeconfig, "--state-dir", s.State, "--nginx-root", nginx.Root,
		"--http-port", fmt.Sprint(s.HTTP), "--https-port", fmt.Sprint(s.HTTPS),
		"--healthz-host", "127.0.0.1", "--healthz-port", fmt.Sprint(s.Healthz), "--post-shutdown-grace-period", "2",
	}, more...)
	t.Cleanup(func() { s.end(t) })
	return s
}

// RunSluice prepares a sluice, starts it, and waits until it is ready.
func RunSluice(t testing.TB, kubeconfig string, more ...string) *Sluice {
	t.Helper()
	s := PrepareSluice(t, kubeconfig, more...)
	s.Launch(t)
	s.AwaitReady(t)
	return s
}

// Launch starts the process; it need not be ready when this returns.
func (s *Sluice) Launch(t testing.TB) {
	t.Helper()
	command := exec.Command(SluicePath(), s.Arguments...)
	command.Env = append(os.Environ(), s.Environment...)
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	s.Start(t, command)
}

// Terminate ends it as Kubernetes does, and waits for the end.
func (s *Sluice) Terminate() { s.Stop(syscall.SIGTERM, kit.Patience) }

// Kill ends it without a word. Its nginx may go on for a moment, as that of a
// container would not.
func (s *Sluice) Kill() { s.Stop(syscall.SIGKILL, kit.Patience) }

// Request is a GET of a URL from this sluice.
func (s *Sluice) Request(url string) Request {
	port := s.HTTP
	if strings.HasPrefix(url, "https:") {
		port = s.HTTPS
	}
	return Request{URL: url, To: net.JoinHostPort("127.0.0.1", fmt.Sprint(port))}
}

func (s *Sluice) end(t testing.TB) {
	if s.Process == nil {
		return
	}
	s.Terminate()
	if t.Failed() {
		t.Logf("the end of sluice's log:\n%s", kit.Tail(s.Log.Lines(t, ""), 60))
	}
}
