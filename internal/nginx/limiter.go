package nginx

import (
	"cmp"
	"context"
	"time"

	"golang.org/x/time/rate"
)

// Limits bound how often nginx is reloaded, and what its workers hold. The zero
// value of each field is its default.
type Limits struct {
	PerSecond float64 // default 10
	Burst     int     // default 5
	// Workers tells what workers hold, and ends those that hold too much; default:
	// nobody, so that nothing is waited for or ended.
	Workers Workers
	// DrainMemory is how much memory, in bytes, the workers that drain may hold;
	// default: draining times what the serving generation holds, and 512 MiB at
	// least.
	DrainMemory int64
	// LongestWait is how long a reload is put off for memory; default 10 s.
	LongestWait time.Duration
}

// Workers are those of a Process.
type Workers interface {
	Generations() (serving Generation, draining []Generation)
	End(Generation)
}

// Limiter spaces reloads out. Each reload leaves workers behind that hold a
// copy of the configuration until their last request ends. If there is no room
// for those that the next reload leaves behind, it waits a while, and then the
// oldest workers are ended.
type Limiter struct {
	limits Limits
	bucket *rate.Limiter
}

const (
	// generations and leastDrain are the default of Limits.DrainMemory.
	generations = 4
	leastDrain  = 512 << 20
	// drainEvery is how often the memory of draining workers is looked at.
	drainEvery = 250 * time.Millisecond
)

// NewLimiter makes a Limiter that starts with a full burst.
func NewLimiter(l Limits) *Limiter {
	l.PerSecond, l.Burst = cmp.Or(l.PerSecond, 10), cmp.Or(l.Burst, 5)
	l.LongestWait = cmp.Or(l.LongestWait, 10*time.Second)
	return &Limiter{limits: l, bucket: rate.NewLimiter(rate.Limit(l.PerSecond), l.Burst)}
}

// Wait returns when a reload may begin, or ctx's error.
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
		if time.Since(began) >= l.limits.LongestWait && oldest.Load != ended {
			ended = oldest.Load
			l.limits.Workers.End(oldest)
		}
		if time.Since(began) >= l.limits.LongestWait+endsWithin {
			return nil
		}
		select {
		case <-time.After(drainEvery):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// endsWithin bounds the wait for workers that were ended.
const endsWithin = 2 * time.Second

// full reports whether the next reload would leave more behind than there is
// room for, and what drains longest.
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
