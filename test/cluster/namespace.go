package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sluice/test/kit"
)

// The environment of the test binary that runs inside the namespace: where the
// sluice under test is. That it is set at all says that we are inside.
const sluiceVariable = "SLUICE_INSIDE_CLUSTER"

// Inside says whether this process runs in a network namespace that Main has
// made.
func Inside() bool { return os.Getenv(sluiceVariable) != "" }

// Main runs the tests of a package in a network namespace of their own, and
// ends the process. It builds sluice before, with flags of go build, because
// inside there is no way to the rest of the network. It calls the test binary
// again for that, with the same arguments; so what a package does before Main
// is done twice.
func Main(m *testing.M, flags ...string) {
	MainIn(m, Surroundings{Network: addAddresses}, flags...)
}

// Surroundings are what the tests of a package run in.
type Surroundings struct {
	// Network sets up the network namespace, before the first test.
	Network func() error
	// Namespaces are flags of clone(2) for more namespaces, which only root can
	// have. What runs in a pid namespace ends with the tests, whatever happens.
	Namespaces uintptr
	// After is called when all has ended, with the path of the sluice that was
	// built, which tells test runs apart; nil for nothing.
	After func(sluice string)
}

// MainIn is Main with other surroundings.
func MainIn(m *testing.M, s Surroundings, flags ...string) {
	if Inside() {
		os.Exit(s.runInside(m))
	}
	os.Exit(kit.WithSluice(s.runAgain, flags...))
}

func (s Surroundings) runInside(m *testing.M) int {
	if err := s.Network(); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		return 1
	}
	defer stopShared()
	kit.TwoTestsPerCore()
	return m.Run()
}

// addAddresses makes every address of pods (10.244.0.0/16), Services
// (10.96.0.0/16) and of the API servers, nodes, load balancers and clients
// (10.255.0.0/16) one of this machine's own, so that this process can listen on
// any of them. Who connects without a choice of its own comes from 10.255.255.1.
func addAddresses() error {
	return IP(`
link set lo up
address add 10.255.255.1/32 dev lo
route add local 10.255.0.0/16 dev lo src 10.255.255.1
route add local 10.244.0.0/16 dev lo src 10.255.255.1
route add local 10.96.0.0/16 dev lo src 10.255.255.1
`)
}

// IP runs lines of ip(8), in the namespaces that a command enters, if one is given.
func IP(lines string, entering ...string) error {
	arguments := slices.Concat(entering, []string{"ip", "-batch", "-"})
	command := exec.Command(arguments[0], arguments[1:]...)
	command.Stdin = strings.NewReader(lines)
	output, err := command.CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("the program %s is missing: `test/setup.sh --tests` installs it", arguments[0])
	}
	if err != nil {
		return fmt.Errorf("ip cannot set up a network namespace: %w: %s", err, bytes.TrimSpace(output))
	}
	return nil
}

// runAgain calls this test binary inside a new network namespace, waits for its
// end, and gives its exit status.
func (s Surroundings) runAgain(sluice string) int {
	runtime.LockOSThread() // the signal at our death comes when the thread ends
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGHUP)
	command, err := s.startAgain(sluice)
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		return 1
	}
	namespace := networkOf(command.Process.Pid)
	go func() {
		for signal := range signals {
			_ = command.Process.Signal(signal)
		}
	}()
	err = command.Wait()
	sweep(namespace)
	if s.After != nil {
		s.After(sluice)
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.Exited() {
		return exit.ExitCode()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster: the tests in the network namespace:", err)
		return 1
	}
	return 0
}

// startAgain tries each way to a network namespace.
func (s Surroundings) startAgain(sluice string) (*exec.Cmd, error) {
	var tried []error
	for _, way := range ways() {
		command := exec.Command("/proc/self/exe", os.Args[1:]...)
		command.Args[0] = os.Args[0]
		command.Env = append(os.Environ(), sluiceVariable+"="+sluice)
		command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
		command.SysProcAttr = way.attributes
		command.SysProcAttr.Cloneflags |= s.Namespaces
		err := command.Start()
		if err == nil {
			return command, nil
		}
		tried = append(tried, fmt.Errorf("%s: %w", way.name, err))
	}
	return nil, fmt.Errorf(`no network namespace can be made for the tests:
%w
They have to run as root with CAP_SYS_ADMIN (in Docker: --privileged), or where user namespaces may be made: see the sysctls user.max_user_namespaces,
kernel.unprivileged_userns_clone (Debian) and kernel.apparmor_restrict_unprivileged_userns (Ubuntu), and the seccomp profile of a container`, errors.Join(tried...))
}

// way is a way to a network namespace.
type way struct {
	name       string
	attributes *syscall.SysProcAttr
}

// ways are those of who we are. In a user namespace everybody stays who they
// were, for an nginx that may not change its user or groups must not be told to.
// An ordinary user hands the right to set up the network on by ambient
// capabilities.
func ways() []way {
	const network, users = syscall.CLONE_NEWNET, syscall.CLONE_NEWUSER
	if uid, gid := os.Getuid(), os.Getgid(); uid != 0 {
		return []way{{"through a user namespace", &syscall.SysProcAttr{
			Cloneflags: users | network, Pdeathsig: syscall.SIGKILL,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}},
			AmbientCaps: []uintptr{unix.CAP_NET_ADMIN, unix.CAP_NET_BIND_SERVICE},
		}}}
	}
	everybody := []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1 << 16}}
	return []way{
		{"as root", &syscall.SysProcAttr{Cloneflags: network, Pdeathsig: syscall.SIGKILL}},
		{"as root, through a user namespace", &syscall.SysProcAttr{
			Cloneflags: users | network, Pdeathsig: syscall.SIGKILL,
			UidMappings: everybody, GidMappings: everybody, GidMappingsEnableSetgroups: true,
		}},
	}
}

// networkOf names the network namespace of a process; "" if it has ended.
func networkOf(pid int) string {
	name, _ := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "ns", "net"))
	return name
}

// sweep ends what the tests have left running in their network namespace, such
// as the nginx of a sluice that was killed.
func sweep(namespace string) {
	if namespace == "" || namespace == networkOf(os.Getpid()) {
		return
	}
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		left := processesIn(namespace)
		if len(left) == 0 {
			return
		}
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	fmt.Fprintln(os.Stderr, "cluster: processes of the tests go on:", processesIn(namespace))
}

func processesIn(namespace string) []int {
	entries, _ := os.ReadDir("/proc")
	var found []int
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil && networkOf(pid) == namespace {
			found = append(found, pid)
		}
	}
	return found
}
