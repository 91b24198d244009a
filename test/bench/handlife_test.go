package bench

import (
	"os"
	"runtime"
	"time"

	"sluice/test/bench/measure"
)

// workers is how many workers nginx has, in both.
func workers() int { return runtime.GOMAXPROCS(0) }

// handFigures are what the same life costs nginx alone.
type handFigures struct {
	start, cpu, memory, conf float64
	add                      []float64
}

// handLife takes an nginx with a file by hand through the life of BenchmarkScale:
// each change is a new file, `nginx -t` and a reload. A change of endpoints is
// one too, because the upstream is in the file.
func handLife(h *byHand, n int) handFigures {
	h.b.Helper()
	var f handFigures
	h.write(n)
	began := time.Now()
	h.start()
	f.start = measure.AwaitAll(h.b, h.port, measure.Host(n-1), measure.Served).Sub(began).Seconds()
	if info, err := os.Stat(h.conf()); err == nil {
		f.conf = float64(info.Size()) / 1e6
	}
	for round := range 2 * rounds {
		i := n + round
		h.write(i + 1)
		took, used := h.change(i)
		f.add, f.cpu = append(f.add, took), f.cpu+used
	}
	h.write(0)
	_, used := h.test()
	h.reload()
	measure.AwaitAll(h.b, h.port, measure.Host(0), measure.Absent)
	f.cpu += used + measure.AtRest(h.PID()).Sum()
	h.write(n)
	h.reload()
	measure.AwaitAll(h.b, h.port, measure.Host(n-1), measure.Served)
	f.memory = h.peak(n)
	h.stop()
	return f
}

// change tests the file, reloads, and waits until host i is served.
func (h *byHand) change(i int) (took, used float64) {
	h.b.Helper()
	began := time.Now()
	_, used = h.test()
	h.reload()
	return measure.AwaitAll(h.b, h.port, measure.Host(i), measure.Served).Sub(began).Seconds(), used
}

// peak is the memory over reloads.
func (h *byHand) peak(n int) float64 {
	watch := measure.SampleNginx(h.PID())
	for range rounds / 2 {
		n++
		h.write(n)
		h.reload()
		measure.AwaitAll(h.b, h.port, measure.Host(n-1), measure.Served)
	}
	return watch.End().Nginx
}
