// Package e2e runs the real sluice with the real nginx and real sockets on
// loopback. Each test runs once for every nginx that is there: the system's,
// and the one of SLUICE_NGINX_ROOT (make test builds it). Only what never gets
// to an nginx runs once (TestFlagErrors).
package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// sluicePath is the binary under test, built once.
var sluicePath string

func TestMain(m *testing.M) {
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "sluice-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	sluicePath = filepath.Join(dir, "sluice")
	build := exec.Command("go", append(buildArguments(), "-o", sluicePath, "sluice/cmd/sluice")...)
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build sluice:", err)
		return 1
	}
	return m.Run()
}

// buildArguments are those of go build. With SLUICE_RACE=1 sluice is built with
// the race detector, and a race that is found ends it with an error.
func buildArguments() []string {
	if os.Getenv("SLUICE_RACE") == "1" {
		return []string{"build", "-race"}
	}
	return []string{"build"}
}

// eachNginx runs a test with every nginx that is there.
func eachNginx(t *testing.T, test func(t *testing.T, root string)) {
	t.Helper()
	for _, nginx := range []struct{ name, root string }{{"system", "/"}, {"shipped", os.Getenv("SLUICE_NGINX_ROOT")}} {
		if nginx.root != "" {
			t.Run(nginx.name, func(t *testing.T) { test(t, nginx.root) })
		}
	}
}
