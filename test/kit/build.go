// Package kit holds what several of the test packages beside it need to run the
// real sluice and the real nginx: it builds sluice, finds the nginx that are
// there, gives folders and ports, starts processes, reads their logs and ends
// them. It says nothing about what is to be expected of them.
//
//	func TestMain(m *testing.M) {
//		os.Exit(kit.WithSluice(func(path string) int { binary = path; return m.Run() }))
//	}
//
//	s := kit.Prepare(t, root, manifests)
//	s.Start(t, exec.Command(binary, s.Arguments...))
//	t.Cleanup(func() { s.Stop(syscall.SIGTERM, patience) })
//	s.AwaitReady(t, patience)
package kit

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// WithSluice builds sluice with flags of go build, calls run with the path of
// the binary, and gives what run gives, or 1 where sluice cannot be built. The
// binary is gone afterwards.
func WithSluice(run func(path string) int, flags ...string) int {
	dir, err := os.MkdirTemp("", "sluice-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	root, err := moduleRoot()
	if err != nil {
		fmt.Fprintln(os.Stderr, "build sluice:", err)
		return 1
	}
	path := filepath.Join(dir, "sluice")
	arguments := append([]string{"build", "-o", path}, flags...)
	build := exec.Command("go", append(arguments, "sluice/cmd/sluice")...)
	build.Dir, build.Stderr = root, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build sluice:", err)
		return 1
	}
	return run(path)
}

// moduleRoot is the folder of Sluice's go.mod, also for tests of other modules,
// which do not require all that Sluice is built from.
func moduleRoot() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sluice").Output()
	if err != nil {
		return "", fmt.Errorf("find the module of sluice: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}
