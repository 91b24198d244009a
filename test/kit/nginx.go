package kit

import (
	"context"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"

	"sluice/internal/nginx"
)

// Nginx is an available nginx: the "system" one, whose root is "/", or the "shipped"
// one of the root file system in SLUICE_NGINX_ROOT.
type Nginx struct {
	Name, Root string
	nginx.Install
}

// Nginxes returns all available nginx, found once for all tests.
func Nginxes(t testing.TB) []Nginx {
	t.Helper()
	found, err := inspectAll()
	if err != nil {
		t.Fatalf("an nginx to test with is missing (`make setup` installs it): %v", err)
	}
	return found
}

// BestNginx returns the shipped nginx if there is one, or else the system's.
func BestNginx() (Nginx, error) {
	all := roots()
	return inspect(all[len(all)-1])
}

func roots() []Nginx {
	found := []Nginx{{Name: "system", Root: "/"}}
	if root := os.Getenv("SLUICE_NGINX_ROOT"); root != "" {
		found = append(found, Nginx{Name: "shipped", Root: root})
	}
	return found
}

func inspect(n Nginx) (Nginx, error) {
	var err error
	n.Install, err = nginx.Inspect(context.Background(), nginx.Options{Root: n.Root})
	return n, err
}

var inspectAll = sync.OnceValues(func() ([]Nginx, error) {
	found := roots()
	for i := range found {
		var err error
		if found[i], err = inspect(found[i]); err != nil {
			return nil, err
		}
	}
	return found, nil
})

// Call returns a command that runs this nginx as the leader of a process group. The
// master does not outlive the tests.
func (n Nginx) Call(arguments ...string) *exec.Cmd {
	argv := n.Install.Command(arguments...)
	command := exec.Command(argv[0], argv[1:]...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	command.Env = append(os.Environ(), keepMemory)
	return command
}

// keepMemory makes nginx keep the memory that it frees. Each map of a configuration
// needs 1.6 MB while it is read, for tables that are cleared first. With this, a start
// takes a third of the time. Source:
// https://www.gnu.org/software/libc/manual/html_node/Memory-Allocation-Tunables.html
const keepMemory = "GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.trim_threshold=67108864:glibc.malloc.mmap_threshold=33554432"
