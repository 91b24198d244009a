package nginx

import (
	"testing"
	"time"
)

// A master that reads a large file on a busy machine is waited for by its processor time, one
// that sleeps by the clock, and none for ever.
func TestReadingIsWaitedForByProcessorTime(t *testing.T) {
	for name, c := range map[string]struct {
		state byte
		share float64       // of a processor that the master gets
		after time.Duration // when its time of 10 s is over, within a second
	}{
		"a whole processor":      {'R', 1, 10 * time.Second},
		"a quarter":              {'R', 0.25, 40 * time.Second},
		"nearly none":            {'R', 0.001, 100 * time.Second},
		"asleep":                 {'S', 0, 10 * time.Second},
		"waits for the disk":     {'D', 0, 10 * time.Second},
		"it cannot be looked at": {0, 0, 10 * time.Second},
	} {
		now, master, waits := time.Unix(0, 0), procStat{State: c.state}, reading{limit: 10 * time.Second}
		began := now
		for !waits.over(now, master) && now.Sub(began) < time.Hour {
			now = now.Add(time.Second / 2)
			master.CPU += time.Duration(c.share * float64(time.Second/2))
		}
		if took := now.Sub(began); took < c.after || took > c.after+time.Second {
			t.Errorf("%s: it is over after %v, want %v", name, took, c.after)
		}
	}
}
