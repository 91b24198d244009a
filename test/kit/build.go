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
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
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
	root, err := ModuleRoot()
	if err != nil {
		fmt.Fprintln(os.Stderr, "build sluice:", err)
		return 1
	}
	path := filepath.Join(dir, "sluice")
	arguments := append([]string{"build", withoutDebugData, "-o", path}, flags...)
	build := exec.Command("go", append(arguments, "sluice/cmd/sluice")...)
	build.Dir, build.Stderr = root, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build sluice:", err)
		return 1
	}
	return run(path)
}

// LikeRelease makes WithSluice build what build.sh releases, which needs less memory, and returns the
// flags for it.
func LikeRelease() (flags []string) {
	os.Setenv("CGO_ENABLED", "0")
	return []string{"-trimpath", "-ldflags=-s -w"}
}

// BuildPlugin builds the kubectl plugin beside a sluice, and returns its path.
func BuildPlugin(sluice string) (string, error) {
	root, err := ModuleRoot()
	if err != nil {
		return "", err
	}
	path := filepath.Join(filepath.Dir(sluice), "kubectl-sluice")
	build := exec.Command("go", "build", withoutDebugData, "-o", path, "./cmd/kubectl-sluice")
	build.Dir = root
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build kubectl-sluice: %w\n%s", err, output)
	}
	return path, nil
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
