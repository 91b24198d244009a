package bench

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// budgets are those of one size; 0 is none.
type budgets struct {
	start, add, endpoints, cpu, memory, controller, conf float64
}

var budgetOf = map[int]budgets{
	100:    {start: 0.5, add: 0.12, endpoints: 0.1, cpu: 2, memory: 100, controller: 50, conf: 0.13},
	1_000:  {start: 1, add: 0.3, endpoints: 0.1, cpu: 10, memory: 250, controller: 90, conf: 1.3},
	5_000:  {start: 3, add: 1.2, endpoints: 0.1, cpu: 60, memory: 900, controller: 250, conf: 6.5},
	10_000: {start: 6, add: 2.5, endpoints: 0.1, conf: 13},
}

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
	for _, n := range []int{100, 1_000, 5_000, 10_000} {
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
	return endpoints{
		before: []int{backend(b, "before"), backend(b, "before")},
		after:  []int{backend(b, "after"), backend(b, "after")},
	}
}

func scale(b *testing.B, n int) {
	b.StopTimer()
	defer b.StartTimer()
	to := backends(b)
	hand := newByHand(b, workers(), to.before...)
	base := handLife(hand, n)
	l := &life{b: b, n: n, to: to, folder: newFolder(b)}
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
	sluice *sluice

	added                int
	start                float64
	add, endpoints       []float64
	cpu                  cpu
	memory, controller   float64
	conf                 float64
	parsed, parsedByHand []float64
}

// begin starts sluice and waits until every host is served.
func (l *life) begin() {
	l.sluice = start(l.b, l.folder.path)
	since := awaitAll(l.b, l.sluice.HTTP, host(l.n-1), served)
	l.start = since.Sub(l.sluice.began).Seconds()
	l.spent(cpu{})
	checkAll(l.b, l.sluice.HTTP, l.n)
	info, err := os.Stat(l.sluice.conf())
	if err != nil {
		l.b.Fatal(err)
	}
	l.conf = float64(info.Size()) / 1e6
}

// spent adds the processor time since an earlier look.
func (l *life) spent(since cpu) {
	now := atRest(l.sluice.PID()).minus(since)
	l.cpu.controller += now.controller
	l.cpu.nginx += now.nginx
}

// atRest waits until a process and its descendants have no work left and gives
// what they used so far.
func atRest(pid int) cpu {
	last, since := cpuOf(pid), time.Now()
	for time.Since(since) < 400*time.Millisecond {
		time.Sleep(50 * time.Millisecond)
		if now := cpuOf(pid); now.sum() > last.sum() {
			last, since = now, time.Now()
		}
	}
	return last
}

// changes adds Ingresses one by one, then changes endpoints one by one.
func (l *life) changes() {
	before := atRest(l.sluice.PID())
	for range rounds {
		l.add = append(l.add, l.addOne())
	}
	for round := range rounds {
		want, ports := "after", l.to.after
		if round%2 == 1 {
			want, ports = "before", l.to.before
		}
		began := l.folder.replace(l.b, fileName(0), unit(0, ports...))
		l.endpoints = append(l.endpoints, awaitAll(l.b, l.sluice.HTTP, host(0), from(want)).Sub(began).Seconds())
	}
	l.spent(before)
}

func (l *life) addOne() float64 {
	l.b.Helper()
	i := l.n + l.added
	l.added++
	began := l.folder.replace(l.b, fileName(i), unit(i, l.to.before...))
	return awaitAll(l.b, l.sluice.HTTP, host(i), served).Sub(began).Seconds()
}

// reloads looks at memory over reloads. It is apart from what is timed, because
// looking costs time too. The controller's peak is that of its whole life.
func (l *life) reloads() {
	watch := sample(l.sluice.PID())
	for range rounds / 2 {
		l.addOne()
	}
	l.controller = field(fmt.Sprintf("/proc/%d/status", l.sluice.PID()), "VmHWM")
	l.memory = watch.end().nginx + l.controller
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
	before := atRest(l.sluice.PID())
	l.folder.clear(l.b)
	for _, i := range []int{0, l.n / 2, l.n + l.added - 1} {
		awaitAll(l.b, l.sluice.HTTP, host(i), absent)
	}
	l.spent(before)
}

func (l *life) report(base handFigures) {
	for _, f := range l.figures(base) {
		f.work, f.peers = thousands(l.n), scalePeers[f.what][l.n]
		f.report(l.b)
	}
}

func (l *life) figures(base handFigures) []figure {
	may := budgetOf[l.n]
	parse, parseByHand := median(l.parsed), median(l.parsedByHand)
	return []figure{
		{what: "start to every host served", unit: "s", samples: []float64{l.start}, budget: may.start, baseline: base.start, beside: "nginx by hand"},
		{what: "one more Ingress served", unit: "s", samples: l.add, budget: may.add, baseline: median(base.add), beside: "nginx -t and reload by hand"},
		{what: "one more Ingress besides two parses", unit: "s", samples: []float64{median(l.add) - 2*parse}, budget: overhead, baseline: 2 * parse, beside: "nginx -t, twice"},
		{what: "endpoints effective", unit: "s", samples: l.endpoints, budget: may.endpoints, baseline: median(base.add), beside: "nginx -t and reload by hand"},
		{what: "CPU of all", unit: "s", samples: []float64{l.cpu.sum()}, budget: may.cpu, baseline: base.cpu, beside: "nginx by hand, the same changes"},
		{what: "CPU of the controller", unit: "s", samples: []float64{l.cpu.controller}},
		{what: "peak memory of all", unit: "MB", samples: []float64{l.memory}, budget: may.memory, baseline: base.memory, beside: "nginx by hand, over reloads"},
		{what: "peak memory of the controller", unit: "MB", samples: []float64{l.controller}, budget: may.controller},
		{what: "nginx.conf", unit: "MB", samples: []float64{l.conf}, budget: may.conf, baseline: base.conf, beside: "by hand"},
		{what: "nginx -t", unit: "s", samples: l.parsed, budget: parseRatio * parseByHand, baseline: parseByHand, beside: "the file by hand"},
	}
}
