package controller

import (
	"context"
	"sync/atomic"
	"time"
)

// streak delays reloads while changes keep coming during each of them, for example when
// a thousand Ingresses are created at once: otherwise nginx would only read its file
// again and again. Changes after the end of a reload do not wait, nor does the second
// reload of a burst.
type streak struct {
	// length is the number of reloads in a row after which another one was due.
	length int
}

// The first pause is as long as the reload before it. Later ones are pauseShare times
// as long, at least shortestPause and at most longestPause.
const (
	pauseShare    = 3
	shortestPause = 250 * time.Millisecond
	longestPause  = 5 * time.Second
)

// pause returns the longest wait of the next reload, after one that took a while, and
// how long no change must come for it to start earlier. due is set if another plan was
// waiting at the end of the reload.
func (s *streak) pause(took time.Duration, due bool) (most, calm time.Duration) {
	if !due {
		s.length = 0
		return 0, 0
	}
	s.length++
	switch s.length {
	case 1:
		return 0, 0
	case 2:
		return min(took, longestPause), max(took, shortestPause)
	}
	return min(max(pauseShare*took, shortestPause), longestPause), max(took, shortestPause)
}

// lastChange is the time of the last change that needs a reload. The zero value is
// ready. It is safe for concurrent use.
type lastChange struct{ at atomic.Pointer[time.Time] }

func (l *lastChange) note() {
	now := time.Now()
	l.at.Store(&now)
}

// awaitCalm returns after most, or when no change came for as long as calm, or on
// hurry, or when ctx ends.
func (l *lastChange) awaitCalm(ctx context.Context, most, calm time.Duration, hurry <-chan struct{}) {
	began := time.Now()
	for {
		last := began
		if at := l.at.Load(); at != nil {
			last = *at
		}
		wait := min(time.Until(began.Add(most)), time.Until(last.Add(calm)))
		if wait <= 0 {
			return
		}
		select {
		case <-time.After(wait):
		case <-hurry:
			return
		case <-ctx.Done():
			return
		}
	}
}
