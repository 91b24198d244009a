package migrate

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
)

// TestFatesOfManyPaths: what becomes of n paths with an item each is found in time by n, not by its
// square, which took 2.5 s of a report about 6,000.
func TestFatesOfManyPaths(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	took := func(n int) time.Duration {
		f := &facts{ingress: &networkingv1.Ingress{}}
		items := []Item{{Field: "nginx.ingress.kubernetes.io/canary", Status: Note, Reason: model.Unread}}
		for i := range n {
			field := fmt.Sprintf("spec.rules[%d].http.paths[0]", i)
			f.paths = append(f.paths, path{field: field})
			items = append(items, Item{Field: field + ".backend.service.name", Status: Note, Reason: model.NotFound})
		}
		items[1].Status = LeftOut
		fastest := time.Hour
		for range 3 {
			began := processorTime(t)
			fates := (&look{}).fates(f, items)
			fastest = min(fastest, processorTime(t)-began)
			if first, other := fates.status[f.paths[0].field], fates.status[f.paths[1].field]; first != LeftOut || other != Ready {
				t.Fatalf("the first path is %s, want %s, and the second one %s, want %s", first, LeftOut, other, Ready)
			}
		}
		return fastest
	}
	if of := took(24000); of > 2*time.Second {
		t.Errorf("24000 paths took %v, want a tenth of a second of a processor, and surely less than 2 s", of)
	}
}

// processorTime returns the time that the thread of the test has had on a processor: a busy
// machine does not change it.
func processorTime(t *testing.T) time.Duration {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
