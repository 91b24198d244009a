package main

import (
	"runtime"
	"testing"
	"time"
)

// TestGarbage: GOGC follows the live heap, and what the environment says has precedence.
func TestGarbage(t *testing.T) {
	for _, c := range []struct {
		live uint64
		read bool
		want int
	}{{0, false, percentSmall}, {smallHeap - 1, true, percentSmall}, {smallHeap, false, percentReading}, {smallHeap, true, percentLarge}} {
		if got := percentFor(c.live, c.read); got != c.want {
			t.Errorf("%d bytes, read: %t: %d, want %d", c.live, c.read, got, c.want)
		}
	}
	t.Setenv("GOGC", "70")
	if spareMemory() != nil {
		t.Error("GOGC of the environment is overruled")
	}
	t.Setenv("GOGC", "")
	c := spareMemory()
	held := make([]byte, 4*smallHeap)
	for range 100 { // a finalizer runs some time after its collection
		runtime.GC()
		if c.read.Load() && c.percent.Load() == percentLarge {
			break
		}
		c.read.Store(true)
		time.Sleep(10 * time.Millisecond)
	}
	if got := c.percent.Load(); got != percentLarge {
		t.Errorf("with %d MB: %d, want %d", len(held)>>20, got, percentLarge)
	}
	runtime.KeepAlive(held)
}
