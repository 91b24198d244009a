// Package kit helps the test packages beside it to run the real sluice and the real
// nginx: it builds sluice, finds the available nginx, provides folders and ports, and
// starts processes, reads their logs and ends them. It has no expectations of its
// own.
//
//	func TestMain(m *testing.M) {
//		os.Exit(kit.WithSluice(func(path string) int { binary = path; return m.Run() }))
//	}
//
//	s := kit.Prepare(t, root, manifests)
//	s.Start(t, exec.Command(binary, s.Arguments...))
//	t.Cleanup(func() { s.Stop(syscall.SIGTERM, kit.Patience) })
//	s.AwaitReady(t)
package kit

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// withoutDebugData halves the time of the linker. Stack traces do not need the data of debuggers.
const withoutDebugData = "-ldflags=-w"

// WithSluice builds sluice with flags of go build, calls run with the path of the
// binary, and returns the result of run, or 1 if the build fails. It deletes the
// binary afterwards.
func WithSluice(run func(path string) int, flags ...string) int {
	dir, err := os.MkdirTemp("", "sluice-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "sluice")
	if err := build(path, flags); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return run(path)
}

// build makes a path the program of cmd that has its name. go links a program again for each new
// path, which costs five seconds of a processor, but not where one stands that is up to date. So it
// is built in .cache, once for all test packages that want the same flags, and path is a link to it.
func build(path string, flags []string) error {
	name := filepath.Base(path)
	fail := func(err error) error { return fmt.Errorf("build %s: %w", name, err) }
	root, err := ModuleRoot()
	if err != nil {
		return fail(err)
	}
	kept := filepath.Join(root, ".cache", "programs", fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(flags, "\n"))))[:16])
	if err := os.MkdirAll(kept, 0o755); err != nil {
		return fail(err)
	}
	lock, err := os.OpenFile(filepath.Join(kept, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return fail(err)
	}
	defer lock.Close() // which unlocks it
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fail(err)
	}
	arguments := append([]string{"build", withoutDebugData, "-o", filepath.Join(kept, name)}, flags...)
	command := exec.Command("go", append(arguments, "sluice/cmd/"+name)...)
	command.Dir = root
	if output, err := command.CombinedOutput(); err != nil {
		return fail(fmt.Errorf("%w\n%s", err, output))
	}
	return link(filepath.Join(kept, name), path)
}

// link makes a path a file that stays as it is when go builds another in the place of the first.
func link(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	content, err := os.ReadFile(from) // on another file system
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o755)
}

// LikeRelease makes WithSluice build what build.sh releases, which needs less memory, and returns the
// flags for it.
func LikeRelease() (flags []string) {
	os.Setenv("CGO_ENABLED", "0")
	return []string{"-trimpath", "-ldflags=-s -w"}
}

// BuildPlugin builds the kubectl plugin beside a sluice with flags of go build, and returns its path.
func BuildPlugin(sluice string, flags ...string) (string, error) {
	path := filepath.Join(filepath.Dir(sluice), "kubectl-sluice")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	return path, build(path, flags)
}

// ModuleRoot returns the folder of Sluice's go.mod, which is the root of the checkout. Tests
// of other modules need it, because they do not require all dependencies of Sluice, and
// programs built with -trimpath do not know where their source is.
var ModuleRoot = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sluice").Output()
	if err != nil {
		return "", fmt.Errorf("find the module of sluice: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
})
