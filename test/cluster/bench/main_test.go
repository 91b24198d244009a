// Package bench measures Sluice at scale beside a real API server, with the same
// work, the same probes, the same budgets and the same table as test/bench, which
// measures it on manifests. It holds benchmarks only: what is timed never fails.
//
//	make bench
//	cd test/cluster && go test ./bench -run '^$' -bench 'Cluster/100$' -benchtime 1x
//
// Work of size N is N Ingresses, each with one host and three Prefix paths, with a
// Service and an EndpointSlice of two endpoints each, written by hand and spread
// over 97 namespaces. The endpoints are the same two for all.
//
// etcd, the API server, the clients and the backends share the processors with
// Sluice and its nginx, which nobody's cluster does. It makes slower than they
// would be elsewhere, and must be had in mind with
//
//   - the start: while Sluice lists, the API server works as much as Sluice does;
//   - whatever happens while Ingresses are created or deleted in bulk, or their
//     statuses are written: most of the time is etcd's and the API server's;
//   - one more Ingress and a change of endpoints, by the few milliseconds that the
//     API server needs to tell of them. They are timed from its answer, and once
//     more from before the request is sent.
//
// Processor time and memory are those of Sluice and its nginx only; they are
// distorted by what others do to the caches of the processors, not by their work.
package bench

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"testing"

	"sluice/test/bench/measure"
	"sluice/test/cluster"
	"sluice/test/kit"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if wanted := flag.Lookup("test.bench"); wanted == nil || wanted.Value.String() == "" {
		os.Exit(m.Run()) // nothing that needs a cluster
	}
	cluster.Main(m, kit.LikeRelease()...)
}

// BenchmarkCluster takes each size through three lives of a sluice: one that runs
// while the Ingresses are created and deleted, one that finds them there, and one
// that writes their statuses. Each size has a control plane of its own.
func BenchmarkCluster(b *testing.B) {
	load, _ := os.ReadFile("/proc/loadavg") // what else runs makes figures worse
	defer printTable(b, load)
	for _, n := range measure.Sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for range b.N {
				scale(b, n)
			}
		})
	}
}

func scale(b *testing.B, n int) {
	b.StopTimer()
	defer b.StartTimer()
	w := newWork(b, n)
	crowd := w.whileRunning()
	w.create(0, n)
	found := w.thereBefore()
	written := w.statuses(found.add)
	for _, f := range slices.Concat(crowd.figures(n), found.figures(n), written.figures(n)) {
		f.Work = measure.Thousands(n)
		f.Report(b)
	}
}

// printTable prints the table of all figures.
func printTable(b *testing.B, load []byte) {
	nginx, err := kit.BestNginx()
	if err != nil {
		b.Error(err)
		return
	}
	fmt.Printf("\nbeside an API server: nginx %s, %d processors, load of the machine before: %s", nginx.Version, runtime.NumCPU(), load)
	measure.Results.Print(os.Stdout)
}
