package pid1

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// TestRunsNginx: what else is a child of a controller is not its nginx, such as
// what a shell in the container has left behind to its first process.
func TestRunsNginx(t *testing.T) {
	for _, test := range []struct {
		name       string
		attributes syscall.SysProcAttr
		want       bool
	}{
		{"a group of its own", syscall.SysProcAttr{Setpgid: true}, true},
		{"the group of the controller", syscall.SysProcAttr{}, false},
		{"a session of its own", syscall.SysProcAttr{Setsid: true}, false},
	} {
		test.attributes.Pdeathsig = syscall.SIGKILL
		child := exec.Command("sleep", "600")
		child.SysProcAttr = &test.attributes
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		controller, _ := lookAt(os.Getpid())
		if got := controller.runsNginx(); got != test.want {
			t.Errorf("with a child in %s: %t, want %t", test.name, got, test.want)
		}
		_ = child.Process.Kill()
		_ = child.Wait()
		if controller.runsNginx() {
			t.Errorf("after the end of the child in %s there is still one", test.name)
		}
	}
}
