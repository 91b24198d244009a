package bench

import (
	"bytes"
	"fmt"
	"testing"

	"sluice/test/bench/measure"
)

// problemsChange is what an endpoint change may take at 10,000 Ingresses that have
// three Problems each, in seconds.
const problemsChange = 0.050

// BenchmarkProblems10000 changes endpoints where each of 10,000 Ingresses has three
// annotations that nobody reads.
func BenchmarkProblems10000(b *testing.B) {
	for range b.N {
		problems(b, 10_000)
	}
}

func problems(b *testing.B, n int) {
	b.Helper()
	to, folder := backends(b), newFolder(b)
	for i := range n {
		folder.put(b, fileName(i), misspelled(b, i, to.before...))
	}
	s := start(b, folder.path)
	measure.AwaitAll(b, s.HTTP, measure.Host(n-1), measure.Served)
	before := measure.AtRest(s.PID())
	var samples []float64
	for round := range rounds {
		want, ports := "after", to.after
		if round%2 == 1 {
			want, ports = "before", to.before
		}
		began := folder.replace(b, fileName(0), misspelled(b, 0, ports...))
		samples = append(samples, measure.AwaitAll(b, s.HTTP, measure.Host(0), measure.From(want)).Sub(began).Seconds())
	}
	spent := measure.AtRest(s.PID()).Minus(before)
	for _, f := range []measure.Figure{
		{What: "endpoints effective, three Problems an Ingress", Unit: "s", Samples: samples, Budget: problemsChange},
		{What: "CPU of the controller for one of these", Unit: "s", Samples: []float64{spent.Controller / rounds}},
	} {
		f.Work = measure.Thousands(n)
		f.Report(b)
	}
}

// misspelled is a unit whose Ingress has three annotations that nobody reads.
func misspelled(b *testing.B, i int, ports ...int) []byte {
	b.Helper()
	place := []byte("  annotations:\n")
	var annotations bytes.Buffer
	annotations.Write(place)
	for k := range 3 {
		fmt.Fprintf(&annotations, "    nginx.ingress.kubernetes.io/no-such-key-%d: x\n", k)
	}
	text := unit(i, ports...)
	with := bytes.Replace(text, place, annotations.Bytes(), 1)
	if len(with) == len(text) {
		b.Fatalf("no place for annotations in %s", text)
	}
	return with
}
