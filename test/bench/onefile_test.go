package bench

import (
	"fmt"
	"testing"

	"sluice/test/bench/measure"
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
	started := measure.AwaitAll(b, s.HTTP, measure.Host(n-1), measure.Served).Sub(s.began).Seconds()
	measure.CheckAll(b, s.HTTP, n)
	var add, effective []float64
	for round := range rounds / 2 {
		began := f.replace(b, oneName, oneFile(n+round+1, to.before...))
		add = append(add, measure.AwaitAll(b, s.HTTP, measure.Host(n+round), measure.Served).Sub(began).Seconds())
	}
	rest := oneFile(n+rounds/2, to.before...)[len("---\n")+len(unit(0, to.before...)):]
	for round := range rounds / 2 {
		want, ports := "after", to.after
		if round%2 == 1 {
			want, ports = "before", to.before
		}
		began := f.replace(b, oneName, append(unit(0, ports...), rest...))
		effective = append(effective, measure.AwaitAll(b, s.HTTP, measure.Host(0), measure.From(want)).Sub(began).Seconds())
	}
	may := measure.BudgetOf[n]
	for _, f := range []measure.Figure{
		{What: "one file: start to every host served", Unit: "s", Samples: []float64{started}, Budget: may.Start},
		{What: "one file: one more Ingress served", Unit: "s", Samples: add, Budget: may.Add},
		{What: "one file: endpoints effective", Unit: "s", Samples: effective, Budget: may.Endpoints},
		{What: "one file: peak memory of the controller", Unit: "MB", Samples: []float64{measure.Peak(s.PID())}, Budget: may.Controller},
	} {
		f.Work = measure.Thousands(n)
		f.Report(b)
	}
}
