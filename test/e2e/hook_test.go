package e2e

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"sluice/test/kit"
)

// TestSignalAfterHook: the kubelet sends SIGTERM as soon as the preStop hook has
// ended, while the controller, the first process of its container, stays for that
// very hook. It ends well all the same.
func TestSignalAfterHook(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root enters the namespaces of another process")
	}
	oneNginx(t, func(t *testing.T, root string) {
		s := prepare(t, root, nil)
		first := exec.Command("/bin/sh", append([]string{"-c", `mount -t proc proc /proc && exec "$0" "$@"`, s.binary}, s.Arguments...)...)
		first.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID, Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
		s.Start(t, first)
		s.waitReady()
		hook := exec.CommandContext(t.Context(), "nsenter", "--target", strconv.Itoa(s.PID()), "--mount", "--pid", "--", s.binary, "/wait-shutdown")
		if output, err := hook.CombinedOutput(); err != nil {
			t.Fatalf("the hook: %v\n%s", err, output)
		}
		kit.Await(t, "the end of the container", func() bool {
			_ = s.Command.Process.Signal(syscall.SIGTERM) // until it has ended, whenever that is
			return s.Ended()
		})
		if s.Err != nil {
			t.Errorf("it ended with %v", s.Err)
		}
		if lines := s.lines("stopping at once"); len(lines) > 0 {
			t.Errorf("it says that it stops at once, when all has stopped: %q", lines)
		}
	})
}
