package webhook

import (
	"bytes"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestMemoryOfAFlood: many large reviews at a time take no more memory than some.
func TestMemoryOfAFlood(t *testing.T) {
	s, _ := serverOf(t, 100, func(o *Options) { o.Reviewed = func(Result) {} })
	object := ingress("shop", "new", 9, "new.example")
	object.Annotations = map[string]string{"example.com/large": strings.Repeat("x", 1<<20)}
	body := reviewOf(t, object, object)
	var peak atomic.Uint64
	watching := make(chan struct{})
	var watcher sync.WaitGroup
	watcher.Go(func() {
		for {
			select {
			case <-watching:
				return
			case <-time.After(5 * time.Millisecond):
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak.Store(max(peak.Load(), m.HeapInuse))
			}
		}
	})
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	var answered, other atomic.Int64
	var group sync.WaitGroup
	for range 200 {
		group.Go(func() {
			switch post(s, Path, "application/json", bytes.NewReader(body)).Code {
			case http.StatusOK:
				answered.Add(1)
			case http.StatusServiceUnavailable: // it waited for too long
			default:
				other.Add(1)
			}
		})
	}
	group.Wait()
	close(watching)
	watcher.Wait()
	used := float64(peak.Load()-min(peak.Load(), before.HeapInuse)) / (1 << 20)
	t.Logf("%d of 200 reviews of 2 MB answered, %.0f MB of memory", answered.Load(), used)
	if used > 200 {
		t.Errorf("%.0f MB of memory", used)
	}
	if answered.Load() == 0 || other.Load() > 0 {
		t.Errorf("%d reviews answered, %d in another way", answered.Load(), other.Load())
	}
}
