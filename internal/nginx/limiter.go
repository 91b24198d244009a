package nginx

import (
	"cmp"
	"context"
	"time"

	"golang.org/x/time/rate"
)

// Limits bound how often nginx is reloaded. The zero value of each field is
// its default.
type Limits struct {
	PerSecond float64 // default 10
	Burst     int     // default 5
	// Draining gives the memory, in bytes, of workers that still drain;
	// default: none.
	Draining func() int64
	// Budget is the memory, in bytes, that they may hold before reloads are
	// slowed; default 512 MiB.
	Budget int64
	// LongestWait is how long a reload is put off for memory; default 10 s.
	LongestWait time.Duration
}

// Limiter spaces reloads out. Each reload leaves workers behind that hold a
// copy of the configuration until their last request ends, so reloads also
// wait while too many of them drain.
type Limiter struct {
	limits Limits
	bucket *rate.Limiter
}

// drainEvery is how often the memory of draining workers is looked at.
const drainEvery = 250 * time.Millisecond

// NewLimiter makes a Limiter that starts with a full burst.
func NewLimiter(l Limits) *Limiter {
	l.PerSecond, l.Burst = cmp.Or(l.PerSecond, 10), cmp.Or(l.Burst, 5)
	l.Budget, l.LongestWait = cmp.Or(l.Budget, 512<<20), cmp.Or(l.LongestWait, 10*time.Second)
	if l.Draining == nil {
		l.Draining = func() int64 { return 0 }
	}
	return &Limiter{limits: l, bucket: rate.NewLimiter(rate.Limit(l.PerSecond), l.Burst)}
}

// Wait returns when a reload may begin, or ctx's error.
func (l *Limiter) Wait(ctx context.Context) error {
	if err := l.bucket.Wait(ctx); err != nil {
		return err
	}
	longest := time.After(l.limits.LongestWait)
	for l.limits.Draining() > l.limits.Budget {
		select {
		case <-time.After(drainEvery):
		case <-longest:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
