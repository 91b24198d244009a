// Package bench measures Sluice at scale with a real nginx, beside its budgets
// and beside an nginx whose file is written by hand for the same work, in the
// same run. It holds benchmarks only: what is timed never fails a test.
//
//	make bench
//	go test ./test/bench -run '^$' -bench Scale/1000 -benchtime 1x
//
// The nginx is that of SLUICE_NGINX_ROOT, or the system's. Work of size N is N
// Ingresses, each with one host and three Prefix paths, with a Service of two
// endpoints each.
package bench

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"sluice/internal/nginx"
)

// sluicePath is the binary that is measured, built once.
var sluicePath string

// nginxRoot is where nginx comes from.
var nginxRoot = "/"

func TestMain(m *testing.M) {
	os.Exit(measure(m))
}

// measure prints the table of all figures when the benchmarks are done.
func measure(m *testing.M) int {
	flag.Parse()
	if wanted := flag.Lookup("test.bench"); wanted == nil || wanted.Value.String() == "" {
		return m.Run()
	}
	if root := os.Getenv("SLUICE_NGINX_ROOT"); root != "" {
		nginxRoot = root
	}
	load, _ := os.ReadFile("/proc/loadavg") // what else runs makes figures worse
	dir, err := os.MkdirTemp("", "sluice-bench-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	sluicePath = filepath.Join(dir, "sluice")
	build := exec.Command("go", "build", "-o", sluicePath, "sluice/cmd/sluice")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build sluice:", err)
		return 1
	}
	install, err := nginx.Inspect(context.Background(), nginx.Options{Root: nginxRoot})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	fmt.Printf("\nnginx %s, %d processors, load of the machine before: %s", install.Version, runtime.NumCPU(), load)
	results.print(os.Stdout)
	return code
}
