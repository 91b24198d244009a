// Package browser opens the page of `kubectl sluice ui` in a headless Chromium: the real plugin,
// in front of a real sluice with 10,000 Ingresses, whose names and paths may be hostile. A script
// stands in for kubectl, and a small server for the API server: they lead to the debug socket of
// that sluice.
package browser

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sluice/test/kit"
)

// The binaries under test.
var sluicePath, pluginPath string

func TestMain(m *testing.M) {
	os.Exit(kit.WithSluice(func(path string) int {
		sluicePath, pluginPath = path, filepath.Join(filepath.Dir(path), "kubectl-sluice")
		if err := buildPlugin(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}))
}

func buildPlugin() error {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sluice").Output()
	if err != nil {
		return fmt.Errorf("find the module of sluice: %w", err)
	}
	build := exec.Command("go", "build", "-o", pluginPath, "./cmd/kubectl-sluice")
	build.Dir = strings.TrimSpace(string(root))
	if output, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build kubectl-sluice: %w\n%s", err, output)
	}
	return nil
}
