package pid1

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The tests run this very binary again, in namespaces of its own, as what a test
// names in the environment.
const roleVariable = "CONTAINER_TEST_ROLE"

var roles = map[string]func() error{
	"reaper": reaper, "controller": controller, "hook": hook, "host": host, "bystander": bystander, "stubborn": stubborn,
}

func TestMain(m *testing.M) {
	role := roles[os.Getenv(roleVariable)]
	if role == nil {
		os.Exit(m.Run())
	}
	os.Exit(First(func() int {
		if err := role(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}))
}

// contained runs a role as the first process of a pid namespace, which has its
// own /proc.
func contained(t *testing.T, role string) string {
	t.Helper()
	command := exec.Command("/bin/sh", "-c", `mount -t proc proc /proc && exec "$0" "$@"`, self(t), "run")
	command.Env = append(os.Environ(), roleVariable+"="+role)
	command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if os.Getuid() != 0 {
		command.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		command.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		command.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	} else {
		command.SysProcAttr.Unshareflags = syscall.CLONE_NEWNS
	}
	output, err := command.CombinedOutput()
	if errors.Is(err, syscall.EPERM) {
		t.Skipf("no namespaces may be made here: %v", err)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return string(output)
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFirstReapsOrphansOnly: as the first process, all orphans are reaped, those
// that end late and those of a parent that was killed, and the children of
// os/exec still report how they ended.
func TestFirstReapsOrphansOnly(t *testing.T) {
	t.Parallel()
	contained(t, "reaper")
}

func reaper() error {
	if os.Getpid() != firstPID {
		return fmt.Errorf("this is process %d, want the first", os.Getpid())
	}
	var all sync.WaitGroup
	var lock sync.Mutex
	var faults []error
	for i := range 200 {
		all.Go(func() {
			// Each leaves two orphans: one that ends at once, one that ends later.
			script := fmt.Sprintf("(sleep 0 &) ; (sleep 0.2 &) ; exit %d", i%100)
			if i%4 == 0 { // a master that is killed leaves its workers
				script = "sleep 0.1 & sleep 0.3 & kill -9 $$"
			}
			err := exec.Command("/bin/sh", "-c", script).Run()
			if fault := endedAs(err, i); fault != nil {
				lock.Lock()
				faults = append(faults, fault)
				lock.Unlock()
			}
		})
	}
	all.Wait()
	if len(faults) > 0 {
		return fmt.Errorf("%d of 200 children did not report their end, the first: %w", len(faults), faults[0])
	}
	return awaitNobody()
}

// endedAs compares how a child ended with how it was to.
func endedAs(err error, i int) error {
	var failed *exec.ExitError
	code, killed := 0, false
	switch {
	case errors.As(err, &failed):
		code, killed = failed.ExitCode(), failed.Sys().(syscall.WaitStatus).Signaled()
	case err != nil:
		return err
	}
	if i%4 == 0 && !killed || i%4 != 0 && code != i%100 {
		return fmt.Errorf("child %d: %v", i, err)
	}
	return nil
}

// awaitNobody waits until no other process is there, not even one that has ended.
func awaitNobody() error {
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		entries, err := os.ReadDir("/proc")
		if err != nil {
			return err
		}
		var left []string
		for _, entry := range entries {
			if pid, err := strconv.Atoi(entry.Name()); err == nil && pid != firstPID {
				status, _ := os.ReadFile("/proc/" + entry.Name() + "/stat")
				left = append(left, string(status))
			}
		}
		if len(left) == 0 {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("%d processes were not reaped: %s", len(left), strings.Join(left, ""))
		}
	}
}

// start runs this binary in a role of its own, beside the first process.
func start(role, argument string) (*exec.Cmd, error) {
	command, err := as(role, argument)
	if err != nil {
		return nil, err
	}
	command.Stdout = os.Stdout
	return command, command.Start()
}

// startBegun is start for a role that says when it has begun, and waits for that.
func startBegun(role, argument string) (*exec.Cmd, error) {
	command, err := as(role, argument)
	if err != nil {
		return nil, err
	}
	output, err := command.StdoutPipe()
	if err = errors.Join(err, command.Start()); err != nil {
		return nil, err
	}
	_, err = output.Read(make([]byte, 10))
	return command, err
}

func as(role, argument string) (*exec.Cmd, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := exec.Command(path, argument)
	command.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, roleVariable) }), roleVariable+"="+role)
	command.Stderr = os.Stderr
	return command, nil
}

func argumentIs(want string) func([]string) bool {
	return func(arguments []string) bool { return len(arguments) > 1 && arguments[1] == want }
}

// host is a first process that is no controller, as that of a pod whose
// containers share their processes is none.
func host() error {
	controller, err := startBegun("controller", "controller")
	if err != nil {
		return err
	}
	bystander, err := start("bystander", "bystander")
	if err != nil {
		return err
	}
	began := time.Now()
	hook, err := start("hook", "hook")
	if err != nil {
		return err
	}
	if err := errors.Join(hook.Wait(), controller.Wait()); err != nil {
		return err
	}
	if took := time.Since(began); took < 400*time.Millisecond {
		return fmt.Errorf("the hook ended after %v, before the controller's child did", took)
	}
	if !lives(bystander.Process.Pid) {
		return errors.New("a process of the same binary, that is no controller, was ended, too")
	}
	again, err := start("hook", "hook")
	if err == nil && again.Wait() == nil {
		err = errors.New("the hook found a controller where none is left")
	}
	return errors.Join(err, bystander.Process.Kill())
}

func lives(pid int) bool {
	_, runs := lookAt(pid)
	return runs
}

// controller has a child, its nginx, that goes on for a while after SIGTERM.
func controller() error {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	child := exec.Command("/bin/sh", "-c", "trap '' TERM; sleep 600 & wait")
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := child.Start(); err != nil {
		return err
	}
	fmt.Println("begun")
	<-stop
	time.Sleep(500 * time.Millisecond)
	_ = syscall.Kill(-child.Process.Pid, syscall.SIGKILL)
	_ = child.Wait()
	Linger(10*time.Second, argumentIs("hook"))
	return nil
}

func hook() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	return Shutdown(ctx, argumentIs("controller"))
}

func bystander() error {
	time.Sleep(time.Minute)
	return nil
}

// TestShutdown: the hook ends the controller, wherever that is among the
// processes, waits until what the controller runs has ended, and ends nobody
// else.
func TestShutdown(t *testing.T) {
	t.Parallel()
	contained(t, "host")
}

// stubborn does not stop, and says when it has begun not to.
func stubborn() error {
	signal.Ignore(syscall.SIGTERM)
	child := exec.Command("sleep", "60")
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := child.Start(); err != nil {
		return err
	}
	fmt.Println("begun")
	return child.Wait()
}

// TestShutdownIsBounded: who does not stop is not waited for for ever.
func TestShutdownIsBounded(t *testing.T) {
	t.Parallel()
	name := fmt.Sprintf("stubborn-%d", os.Getpid())
	command := exec.Command(self(t), name)
	command.Env = append(os.Environ(), roleVariable+"=stubborn")
	output, err := command.StdoutPipe()
	if err = errors.Join(err, command.Start()); err != nil {
		t.Fatal(err)
	}
	defer command.Wait()
	defer command.Process.Kill()
	if _, err := output.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := Shutdown(ctx, argumentIs(name)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if err := Shutdown(ctx, argumentIs("nobody")); err == nil {
		t.Error("a controller that does not run was stopped")
	}
}
