package main

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"sluice/test/kit"
)

// hookPatience bounds every wait for sluice and its hook here.
const hookPatience = time.Minute

// TestSignalAfterHook: the kubelet sends SIGTERM as soon as the preStop hook has
// ended, while the controller stays for that very hook. The container has ended
// well all the same.
func TestSignalAfterHook(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root enters the namespaces of another process")
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := kit.Prepare(t, "/", t.TempDir())
	first := exec.Command("/bin/sh", append([]string{"-c", `mount -t proc proc /proc && exec "$0" "$@"`, binary}, s.Arguments...)...)
	first.Env = append(os.Environ(), asSluice+"=1")
	first.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID, Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if s.Process, err = kit.Launch(first, s.Log); errors.Is(err, syscall.EPERM) {
		t.Skipf("no namespaces may be made here: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop(syscall.SIGKILL, hookPatience) })
	s.AwaitReady(t, hookPatience)
	hook := exec.CommandContext(t.Context(), "nsenter", "--target", strconv.Itoa(s.PID()), "--mount", "--pid", "--", binary, "/"+waitShutdown)
	hook.Env = first.Env
	if output, err := hook.CombinedOutput(); err != nil {
		t.Fatalf("the hook: %v\n%s", err, output)
	}
	kit.Await(t, hookPatience, "the end of the container", func() bool {
		_ = s.Command.Process.Signal(syscall.SIGTERM) // until it has ended, whenever that is
		return s.Ended()
	})
	if s.Err != nil {
		t.Errorf("it ended with %v", s.Err)
	}
	if lines := s.Log.Lines(t, "stopping at once"); len(lines) > 0 {
		t.Errorf("it says that it stops at once, when all has stopped: %q", lines)
	}
}
