package nginx

import (
	"cmp"
	"context"
	"time"

	"golang.org/x/time/rate"
)

// Limits restrict the rate of reloads and the memory of workers. Zero values mean the
// defaults.
type Limits struct {
	PerSecond float64 // default 10
	// Workers reports the memory of workers, and ends those that use too much.
	// Without it, Limiter neither waits nor ends anything.
	Workers Workers
	// DrainMemory is the memory, in bytes, that draining workers may use together.
	// The default is generations times the memory of the serving generation, and at
	// least leastDrain.
	DrainMemory int64
}

// Workers are the worker processes of a Process.
type Workers interface {
	Generations() (serving Generation, draining []Generation)
	End(Generation)
}

// Limiter delays reloads. Each reload leaves workers behind that hold a copy of the
// configuration until their last request ends. If there is no memory for another
// generation, the reload waits, and then the oldest workers are ended.
type Limiter struct {
	limits Limits
	bucket *rate.Limiter
}

const (
	// generations and leastDrain are the defaults of Limits.DrainMemory.
	generations = 4
	leastDrain  = 512 << 20
	// drainEvery is how often the memory of draining workers is measured.
	drainEvery = 250 * time.Millisecond
	// longestWait is how long a reload can wait for memory.
	longestWait = 10 * time.Second
	// burst is how many reloads may follow each other at once.
	burst = 5
)

// NewLimiter makes a Limiter that starts with a full burst.
func NewLimiter(l Limits) *Limiter {
	return &Limiter{limits: l, bucket: rate.NewLimiter(rate.Limit(cmp.Or(l.PerSecond, 10)), burst)}
}

// Wait returns when a reload may begin, or with the error of ctx.
func (l *Limiter) Wait(ctx context.Context) error {
	if err := l.bucket.Wait(ctx); err != nil {
		return err
	}
	began, ended := time.Now(), 0
	for {
		oldest, full := l.full()
		if !full {
			return nil
		}
		if time.Since(began) >= longestWait && oldest.Load != ended {
			ended = oldest.Load
			l.limits.Workers.End(oldest)
		}
		if time.Since(began) >= longestWait+endsWithin {
			return nil
		}
		select {
		case <-time.After(drainEvery):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// endsWithin limits the wait for workers that were told to end.
const endsWithin = 2 * time.Second

// full reports whether the next reload would exceed the memory for draining workers,
// and returns the generation that has drained longest.
func (l *Limiter) full() (oldest Generation, full bool) {
	if l.limits.Workers == nil {
		return Generation{}, false
	}
	serving, draining := l.limits.Workers.Generations()
	if len(draining) == 0 {
		return Generation{}, false
	}
	held := serving.Memory
	for _, g := range draining {
		held += g.Memory
	}
	return draining[0], held > cmp.Or(l.limits.DrainMemory, max(generations*serving.Memory, leastDrain))
}
