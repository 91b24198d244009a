package cluster

import (
	"context"
	"time"
)

// A signal follows when nothing has changed for quiet, and at the latest latest after
// the first change.
const (
	quiet  = 10 * time.Millisecond
	latest = 100 * time.Millisecond
)

// signal combines many changes into one signal: the first change is signalled at
// once, a burst as one.
type signal struct {
	touched chan struct{}
	out     chan struct{}
}

func newSignal() *signal {
	return &signal{touched: make(chan struct{}, 1), out: make(chan struct{}, 1)}
}

// touch reports a change. It never blocks.
func (s *signal) touch() { offer(s.touched) }

// offer puts a token into a channel with room for one.
func offer(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// run sends the signals until ctx ends.
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

// gather waits for the end of a burst, and reports whether anything changed.
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
