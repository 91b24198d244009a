package controller

import (
	"context"
	"sync/atomic"
	"time"
)

// streak slows reloads down while changes keep coming during each of them, as
// when a thousand Ingresses are made at once: nginx would do nothing but read its
// file again. Changes that come after a reload has ended never wait, nor do the
// second reload of a burst and what it takes along.
type streak struct {
	// length is how many reloads in a row ended with another one due.
	length int
}

// The first pause takes as long as the reload before it, later ones pauseShare times as
// long, shortestPause at least and longestPause at most.
const (
	pauseShare    = 3
	shortestPause = 250 * time.Millisecond
	longestPause  = 5 * time.Second
)

// pause is how long the next reload waits at most, after one that took a while, and for
// how long nothing may come for it to wait no longer. due says whether another plan was
// there when it ended.
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

// lastChange is when something came last that a reload is due for. The zero value is
// ready; it may be used from several goroutines.
type lastChange struct{ at atomic.Pointer[time.Time] }

func (l *lastChange) note() {
	now := time.Now()
	l.at.Store(&now)
}

// awaitCalm returns when most has passed, when nothing came for as long as calm, when
// hurry tells, or when ctx ends.
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
