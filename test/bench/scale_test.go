package bench

import (
	"fmt"
	"net/http"
	"os"
	"testing"

	"sluice/test/bench/measure"
)

// rounds is how often an Ingress is added and endpoints are changed.
const rounds = 10

// parseRatio is how much longer nginx may take to read Sluice's file than one
// written by hand, and overhead what a change may take besides nginx reading
// the file twice, in seconds.
const (
	parseRatio = 1.5
	overhead   = 0.3
)

// BenchmarkScale takes each size through a life: start, Ingresses that come,
// endpoints that change, the end of all. First nginx alone goes through the
// same by hand.
func BenchmarkScale(b *testing.B) {
	for _, n := range measure.Sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for range b.N {
				scale(b, n)
			}
		})
	}
}

// endpoints are the two backends that all Services start with, and the two that
// they are changed to.
type endpoints struct {
	before, after []int
}

func backends(b *testing.B) endpoints {
	backend := func(name string) int { return measure.Backend(b, name, measure.Loopback, 0) }
	return endpoints{
		before: []int{backend("before"), backend("before")},
		after:  []int{backend("after"), backend("after")},
	}
}

func scale(b *testing.B, n int) {
	b.StopTimer()
	defer b.StartTimer()
	to := backends(b)
	hand := newByHand(b, workers(), to.before...)
	base := handLife(hand, n)
	l := &life{b: b, n: n, to: to, folder: newFolder(b), unit: unit}
	l.folder.fill(b, n, to.before...)
	l.begin()
	l.changes()
	l.reloads()
	l.parse(hand)
	l.end()
	l.report(base)
}

// life is one sluice from start to end, and what was measured on the way.
type life struct {
	b      *testing.B
	n      int
	to     endpoints
	folder folder
	// unit writes an Ingress with what it needs, arguments are those of sluice.
	unit      func(i int, ports ...int) []byte
	arguments []string
	// closed are the hosts that want a password.
	closed func(i int) bool
	sluice *sluice

	added                int
	start                float64
	add, endpoints       []float64
	cpu                  measure.CPU
	memory, controller   float64
	conf                 float64
	parsed, parsedByHand []float64
}

// begin starts sluice and waits until every host is served.
func (l *life) begin() {
	l.sluice = start(l.b, l.folder.path, l.arguments...)
	since := measure.AwaitAll(l.b, l.sluice.HTTP, measure.Host(l.n-1), measure.Served)
	l.start = since.Sub(l.sluice.began).Seconds()
	l.spent(measure.CPU{})
	measure.CheckEach(l.b, l.sluice.HTTP, l.n, l.wanted)
	info, err := os.Stat(l.sluice.conf())
	if err != nil {
		l.b.Fatal(err)
	}
	l.conf = float64(info.Size()) / 1e6
}

// wanted is the answer of a host.
func (l *life) wanted(i int) func(measure.Answer) bool {
	if l.closed != nil && l.closed(i) {
		return func(a measure.Answer) bool { return a.Status == http.StatusUnauthorized }
	}
	return measure.Served
}

// spent adds the processor time since an earlier look.
func (l *life) spent(since measure.CPU) {
	l.cpu = l.cpu.Plus(measure.AtRest(l.sluice.PID()).Minus(since))
}

// changes adds Ingresses one by one, then changes endpoints one by one.
func (l *life) changes() {
	before := measure.AtRest(l.sluice.PID())
	for range rounds {
		l.add = append(l.add, l.addOne())
	}
	for round := range rounds {
		want, ports := "after", l.to.after
		if round%2 == 1 {
			want, ports = "before", l.to.before
		}
		began := l.folder.replace(l.b, fileName(0), l.unit(0, ports...))
		l.endpoints = append(l.endpoints, measure.AwaitAll(l.b, l.sluice.HTTP, measure.Host(0), measure.From(want)).Sub(began).Seconds())
	}
	l.spent(before)
}

func (l *life) addOne() float64 {
	l.b.Helper()
	i := l.n + l.added
	l.added++
	began := l.folder.replace(l.b, fileName(i), l.unit(i, l.to.before...))
	return measure.AwaitAll(l.b, l.sluice.HTTP, measure.Host(i), measure.Served).Sub(began).Seconds()
}

// reloads looks at memory over reloads. It is apart from what is timed, because
// looking costs time too. The controller's own peak is that of its whole life.
func (l *life) reloads() {
	watch := measure.Sample(l.sluice.PID())
	for range rounds / 2 {
		l.addOne()
	}
	l.controller = measure.Peak(l.sluice.PID())
	l.memory = watch.End().All
}

// parse compares `nginx -t` of both files, in turns.
func (l *life) parse(hand *byHand) {
	for range rounds / 2 {
		ours, _ := test(l.b, l.sluice.State, l.sluice.conf())
		theirs, _ := hand.test()
		l.parsed, l.parsedByHand = append(l.parsed, ours), append(l.parsedByHand, theirs)
	}
}

// end deletes everything.
func (l *life) end() {
	before := measure.AtRest(l.sluice.PID())
	l.folder.clear(l.b)
	for _, i := range []int{0, l.n / 2, l.n + l.added - 1} {
		measure.AwaitAll(l.b, l.sluice.HTTP, measure.Host(i), measure.Absent)
	}
	l.spent(before)
}

func (l *life) report(base handFigures) {
	for _, f := range l.figures(base) {
		f.Work, f.Peers = measure.Thousands(l.n), measure.ScalePeers[f.What][l.n]
		f.Report(l.b)
	}
}

func (l *life) figures(base handFigures) []measure.Figure {
	may := measure.BudgetOf[l.n]
	parse, parseByHand := measure.Median(l.parsed), measure.Median(l.parsedByHand)
	return []measure.Figure{
		{What: measure.Start, Unit: "s", Samples: []float64{l.start}, Budget: may.Start, Baseline: base.start, Beside: "nginx by hand"},
		{What: measure.Add, Unit: "s", Samples: l.add, Budget: may.Add, Baseline: measure.Median(base.add), Beside: "nginx -t and reload by hand"},
		{What: "one more Ingress besides two parses", Unit: "s", Samples: []float64{measure.Median(l.add) - 2*parse}, Budget: overhead, Baseline: 2 * parse, Beside: "nginx -t, twice"},
		{What: measure.Endpoints, Unit: "s", Samples: l.endpoints, Budget: may.Endpoints, Baseline: measure.Median(base.add), Beside: "nginx -t and reload by hand"},
		{What: measure.Processor, Unit: "s", Samples: []float64{l.cpu.Sum()}, Budget: may.CPU, Baseline: base.cpu, Beside: "nginx by hand, the same changes"},
		{What: "CPU of the controller", Unit: "s", Samples: []float64{l.cpu.Controller}},
		{What: measure.PeakOfAll, Unit: "MB", Samples: []float64{l.memory}, Budget: may.Memory, Baseline: base.memory, Beside: "nginx by hand, over reloads"},
		{What: measure.PeakOfController, Unit: "MB", Samples: []float64{l.controller}, Budget: may.Controller},
		{What: measure.ConfSize, Unit: "MB", Samples: []float64{l.conf}, Budget: may.Conf, Baseline: base.conf, Beside: "by hand"},
		{What: measure.Parse, Unit: "s", Samples: l.parsed, Budget: parseRatio * parseByHand, Baseline: parseByHand, Beside: "the file by hand"},
	}
}
