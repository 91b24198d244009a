package controller

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestReloadsOfAStreakWait(t *testing.T) {
	t.Parallel()
	var s streak
	for i, step := range []struct {
		took time.Duration
		due  bool
		most time.Duration
		calm time.Duration
	}{
		{time.Second, false, 0, 0}, // one after the other
		{time.Second, false, 0, 0},
		{100 * time.Millisecond, true, 0, 0}, // a burst: its rest goes at once
		{100 * time.Millisecond, true, 100 * time.Millisecond, shortestPause},
		{200 * time.Millisecond, true, 600 * time.Millisecond, shortestPause},
		{50 * time.Millisecond, true, shortestPause, shortestPause},
		{time.Second, true, 3 * time.Second, time.Second},
		{8 * time.Second, true, longestPause, 8 * time.Second},
		{100 * time.Millisecond, false, 0, 0}, // its end
		{100 * time.Millisecond, true, 0, 0},
	} {
		if most, calm := s.pause(step.took, step.due); most != step.most || calm != step.calm {
			t.Errorf("step %d: got %v, %v, want %v, %v", i, most, calm, step.most, step.calm)
		}
	}
}

// A pause ends when no more changes come, after its longest time, and at once if nginx
// restarted.
func TestPausesEnd(t *testing.T) {
	t.Parallel()
	const most, calm, never = 3 * time.Second, time.Second, time.Hour
	for name, c := range map[string]struct {
		// before is the time between the last change and the pause, every the time
		// between changes during it, and hurry the time until nginx restarts.
		before, every, hurry time.Duration
		want                 time.Duration
	}{
		"nothing more comes":                {before: 0, every: never, hurry: never, want: calm},
		"what came last came a while ago":   {before: 400 * time.Millisecond, every: never, hurry: never, want: 600 * time.Millisecond},
		"what came last came long ago":      {before: 2 * calm, every: never, hurry: never, want: 0},
		"more comes all the time":           {before: 0, every: 300 * time.Millisecond, hurry: never, want: most},
		"nginx has to be told all of it":    {before: 0, every: 300 * time.Millisecond, hurry: 500 * time.Millisecond, want: 500 * time.Millisecond},
		"more comes, but with enough space": {before: 0, every: calm + 100*time.Millisecond, hurry: never, want: calm},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var last lastChange
				last.note()
				time.Sleep(c.before)
				go func() {
					for {
						select {
						case <-time.After(c.every):
							last.note()
						case <-ctx.Done():
							return
						}
					}
				}()
				hurry := make(chan struct{})
				go func() {
					select {
					case <-time.After(c.hurry):
						close(hurry)
					case <-ctx.Done():
					}
				}()
				began := time.Now()
				last.awaitCalm(ctx, most, calm, hurry)
				if took := time.Since(began); took != c.want {
					t.Errorf("got %v, want %v", took, c.want)
				}
			})
		})
	}
}
