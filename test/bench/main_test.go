// Package bench measures Sluice at scale with a real nginx, beside its budgets
// and beside an nginx whose file is written by hand for the same work, in the
// same run. It holds benchmarks only: what is timed never fails a test.
//
//	make bench
//	go test ./test/bench -run '^$' -bench 'Scale/1000$' -benchtime 1x
//
// The nginx is that of SLUICE_NGINX_ROOT, or the system's. Work of size N is N
// Ingresses, each with one host and three Prefix paths, with a Service of two
// endpoints each.
package bench

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"testing"

	"sluice/test/bench/measure"
	"sluice/test/kit"
)

// sluicePath is the binary that is measured, built once, and installed the nginx
// that it runs.
var (
	sluicePath string
	installed  kit.Nginx
)

func TestMain(m *testing.M) {
	flag.Parse()
	if wanted := flag.Lookup("test.bench"); wanted == nil || wanted.Value.String() == "" {
		os.Exit(m.Run())
	}
	load, _ := os.ReadFile("/proc/loadavg") // what else runs makes figures worse
	os.Exit(kit.WithSluice(func(path string) int {
		sluicePath = path
		return printed(m, load)
	}, kit.LikeRelease()...))
}

// printed runs the benchmarks and then prints the table of all figures.
func printed(m *testing.M, load []byte) int {
	var err error
	if installed, err = kit.BestNginx(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	fmt.Printf("\nnginx %s, %d processors, load of the machine before: %s", installed.Version, runtime.NumCPU(), load)
	measure.Results.Print(os.Stdout)
	return code
}
