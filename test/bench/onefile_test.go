package bench

import (
	"fmt"
	"testing"
)

// oneName is the file that holds everything.
const oneName = "all.yaml"

// BenchmarkOneFile is the life of BenchmarkScale as far as it differs where all
// objects are in one big file: each change replaces the whole of it.
func BenchmarkOneFile(b *testing.B) {
	for _, n := range []int{5_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for range b.N {
				lifeInOneFile(b, n)
			}
		})
	}
}

func lifeInOneFile(b *testing.B, n int) {
	b.StopTimer()
	defer b.StartTimer()
	to := backends(b)
	f := newFolder(b)
	f.put(b, oneName, oneFile(n, to.before...))
	s := start(b, f.path)
	started := awaitAll(b, s.HTTP, host(n-1), served).Sub(s.began).Seconds()
	checkAll(b, s.HTTP, n)
	var add, effective []float64
	for round := range rounds / 2 {
		began := f.replace(b, oneName, oneFile(n+round+1, to.before...))
		add = append(add, awaitAll(b, s.HTTP, host(n+round), served).Sub(began).Seconds())
	}
	rest := oneFile(n+rounds/2, to.before...)[len("---\n")+len(unit(0, to.before...)):]
	for round := range rounds / 2 {
		want, ports := "after", to.after
		if round%2 == 1 {
			want, ports = "before", to.before
		}
		began := f.replace(b, oneName, append(unit(0, ports...), rest...))
		effective = append(effective, awaitAll(b, s.HTTP, host(0), from(want)).Sub(began).Seconds())
	}
	may := budgetOf[n]
	for _, f := range []figure{
		{what: "one file: start to every host served", unit: "s", samples: []float64{started}, budget: may.start},
		{what: "one file: one more Ingress served", unit: "s", samples: add, budget: may.add},
		{what: "one file: endpoints effective", unit: "s", samples: effective, budget: may.endpoints},
		{what: "one file: peak memory of the controller", unit: "MB", samples: []float64{field(fmt.Sprintf("/proc/%d/status", s.PID()), "VmHWM")}, budget: may.controller},
	} {
		f.work = thousands(n)
		f.report(b)
	}
}
