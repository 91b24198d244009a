package cluster

import (
	"context"
	"time"
)

// After a signal, the next one is given when nothing has changed for quiet, at
// the latest latest after the first change that it tells of.
const (
	quiet  = 10 * time.Millisecond
	latest = 100 * time.Millisecond
)

// signal makes one signal of many changes: the first change goes at once, a
// burst goes together.
type signal struct {
	touched chan struct{}
	out     chan struct{}
}

func newSignal() *signal {
	return &signal{touched: make(chan struct{}, 1), out: make(chan struct{}, 1)}
}

// touch says that something changed. It never blocks.
func (s *signal) touch() { offer(s.touched) }

// offer leaves a token in a channel that holds one.
func offer(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// run gives the signals until ctx ends.
func (s *signal) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.touched:
		}
		offer(s.out)
		for s.gather(ctx) {
			offer(s.out)
		}
	}
}

// gather waits for the end of a burst. It reports whether anything changed.
func (s *signal) gather(ctx context.Context) bool {
	calm := time.NewTimer(quiet)
	defer calm.Stop()
	var limit <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return false
		case <-s.touched:
			calm.Reset(quiet)
			if limit == nil {
				limit = time.After(latest)
			}
		case <-calm.C:
			return limit != nil
		case <-limit:
			return true
		}
	}
}
