package nginx

import (
	"context"
	"errors"
	"time"
)

// pollEvery is the first interval between polls. The interval grows with the time
// that has passed, because a large configuration would otherwise be polled hundreds
// of times.
const (
	pollEvery = 5 * time.Millisecond
	pollShare = 24 // the interval is this fraction of the time that has passed
)

// longestAnswer is the timeout of one request. It is short because a connection that
// was made just before the last worker stopped accepting never gets an answer.
const longestAnswer = 250 * time.Millisecond

// poll calls check until it returns true or an error, or ctx ends.
func poll(ctx context.Context, check func() (bool, error)) error {
	began := time.Now()
	for {
		if done, err := check(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(max(pollEvery, time.Since(began)/pollShare)):
		}
	}
}

// waitForLog waits until the reader of nginx's log, a separate goroutine on a pipe,
// has caught up.
func waitForLog() { time.Sleep(4 * pollEvery) }

// census holds the registered workers that exist, by generation.
type census struct {
	// top is the newest load known, which may have no worker.
	top int
	// newest is the newest load that has a worker, 0 if there is none.
	newest int
	// current are the workers of the newest load, older those of all others.
	current, older []int
	// expected is how many workers there should be.
	expected int
}

// complete reports whether all workers of a load after before exist.
func (c census) complete(before int) bool { return c.newest > before && len(c.current) >= c.expected }

// census asks the workers. It ignores a registration whose process is gone or is no
// child of this master.
func (p *Process) census(ctx context.Context, r *run) (census, error) {
	if len(childrenOf(r.PID)) == 0 {
		return census{}, errors.New("it has no workers")
	}
	ctx, cancel := context.WithTimeout(ctx, longestAnswer)
	defer cancel()
	s, err := p.status(ctx)
	if err != nil {
		return census{}, err
	}
	var alive []Worker
	for _, w := range s.Workers {
		if stat, ok := readStat(w.PID); ok && stat.Parent == r.PID {
			alive = append(alive, w)
		}
	}
	p.noteGenerations(alive)
	return count(s, alive), nil
}

func count(s Status, alive []Worker) census {
	c := census{top: s.Load, expected: max(1, s.Expected)}
	for _, w := range s.Workers {
		c.top = max(c.top, w.Load)
	}
	for _, w := range alive {
		c.newest = max(c.newest, w.Load)
	}
	for _, w := range alive {
		if w.Load == c.newest {
			c.current = append(c.current, w.PID)
		} else {
			c.older = append(c.older, w.PID)
		}
	}
	return c
}

func (p *Process) noteGenerations(alive []Worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range alive {
		p.generations[w.PID] = w.Load
	}
}
