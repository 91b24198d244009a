package controller

import (
	"testing"
	"time"
)

func TestReloadsOfAStreakWait(t *testing.T) {
	t.Parallel()
	var s streak
	for i, step := range []struct {
		took time.Duration
		due  bool
		want time.Duration
	}{
		{time.Second, false, 0}, // one after the other
		{time.Second, false, 0},
		{100 * time.Millisecond, true, 0}, // a burst: its rest goes at once
		{100 * time.Millisecond, true, 100 * time.Millisecond},
		{200 * time.Millisecond, true, 400 * time.Millisecond},
		{50 * time.Millisecond, true, shortestPause},
		{5 * time.Second, true, longestPause},
		{100 * time.Millisecond, false, 0}, // its end
		{100 * time.Millisecond, true, 0},
	} {
		if got := s.pause(step.took, step.due); got != step.want {
			t.Errorf("step %d: got %v, want %v", i, got, step.want)
		}
	}
}
