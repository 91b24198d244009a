package bench

import (
	"os"
	"runtime"
	"time"
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
	f.start = awaitAll(h.b, h.port, host(n-1), served).Sub(began).Seconds()
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
	awaitAll(h.b, h.port, host(0), absent)
	f.cpu += used + atRest(h.PID()).sum()
	h.write(n)
	h.reload()
	awaitAll(h.b, h.port, host(n-1), served)
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
	return awaitAll(h.b, h.port, host(i), served).Sub(began).Seconds(), used
}

// peak is the memory over reloads.
func (h *byHand) peak(n int) float64 {
	watch := sampleNginx(h.PID())
	for range rounds / 2 {
		n++
		h.write(n)
		h.reload()
		awaitAll(h.b, h.port, host(n-1), served)
	}
	return watch.end().nginx
}
