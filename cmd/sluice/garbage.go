package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// GOGC for a live heap of less than smallHeap, for a larger one, and for a larger one while the
// objects are read. Reading makes far more garbage than live data: with 50, collecting it would cost
// a fifth of the CPU time of the start. With Go's default of 100, a controller of 5,000 Ingresses
// needs 20 MB more, and one of 100 needs 6 MB more; there, 25 costs 0.1 s of CPU time in a life of 20
// changes.
const (
	percentSmall, percentLarge, percentReading = 25, 50, 100

	smallHeap = 24 << 20
)

// collector sets GOGC by the size of the live heap, at the end of each collection.
type collector struct {
	read    atomic.Bool
	percent atomic.Int32
}

// mark is collected by each collection, which calls its finalizer. Its pointer keeps it out of the
// blocks that small values without pointers share, where it would live on with its neighbours.
type mark struct{ _ *collector }

// spareMemory returns the collector that sets GOGC, nil if the environment has it.
func spareMemory() *collector {
	if os.Getenv("GOGC") != "" {
		return nil
	}
	c := &collector{}
	c.set(0)
	runtime.SetFinalizer(&mark{c}, c.collected)
	return c
}

func (c *collector) collected(m *mark) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	c.set(live[0].Value.Uint64())
	runtime.SetFinalizer(m, c.collected)
}

func (c *collector) set(live uint64) {
	percent := percentFor(live, c.read.Load())
	if c.percent.Swap(int32(percent)) != int32(percent) {
		debug.SetGCPercent(percent)
	}
}

func percentFor(live uint64, read bool) int {
	switch {
	case live < smallHeap:
		return percentSmall
	case read:
		return percentLarge
	}
	return percentReading
}

// afterRead returns free memory to the system, because nginx soon needs room for two configurations.
func (c *collector) afterRead() {
	if c != nil {
		c.read.Store(true)
		go debug.FreeOSMemory()
	}
}
