//go:build image

package real

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"sluice/test/cluster"
)

func TestMain(m *testing.M) {
	if unmet() != nil { // each test says so
		os.Exit(m.Run())
	}
	cluster.MainIn(m, cluster.Surroundings{
		Network: enter, Namespaces: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID, After: removeCgroups,
	})
}

// unmet says what these tests want and this machine does not have.
func unmet() error {
	if os.Getuid() != 0 {
		return fmt.Errorf("only root can run a kubelet")
	}
	for _, name := range []string{"containerd", "runc", "docker-registry", "skopeo", "nft", "nsenter", "unshare", "ip"} {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("%s is missing: `test/setup.sh --nodes` installs it", name)
		}
	}
	if _, err := os.Stat(cniPrograms + "/bridge"); err != nil {
		return fmt.Errorf("%w: `test/setup.sh --nodes` installs it", err)
	}
	_, err := cgroups()
	return err
}
