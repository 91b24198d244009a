// Package healthcheck decides which endpoints to check next, and which ones are failing. It
// takes a model.Dynamic whose backends have checks, the results of checks, and the time. It
// returns a model.Dynamic without the failing endpoints:
//
//	t := healthcheck.New(rand.Float64)
//	t.Use(d, now)
//	check, wait := t.Next(now)
//	t.Learn(check, "connection refused", now) // "" for a healthy endpoint
//	d = t.Apply(d)
//
// It is pure: package prober sends the requests.
package healthcheck

import (
	"container/heap"
	"time"

	"sluice/internal/model"
)

// Target is a check of one endpoint. Backends with equal targets share it.
type Target struct {
	Check    model.Check
	Endpoint model.Endpoint
}

// Table holds the targets in use, with their states. It must not be used concurrently.
type Table struct {
	random  func() float64
	entries map[Target]*entry
	spaces  map[string]*namespace
	running int
	// failing is the number of failing targets.
	failing int
	// round counts the calls of Use, starts those of Next that returned a target. free is
	// when the next one may start.
	round, starts int
	free          time.Time
}

// entry is the state of a target. A new one is healthy, because Kubernetes reports the
// endpoint as ready, and because no endpoint would be left while Sluice starts.
type entry struct {
	target  Target
	of      *namespace
	round   int
	due     time.Time
	at      int // its place in the queue; -1 while its check runs
	gone    bool
	failing bool
	// against is the number of results in a row against the state.
	against int
	// reason is the reason of the last failure.
	reason string
}

// Check is a check that runs.
type Check entry

// Target returns what is checked.
func (c *Check) Target() Target { return c.target }

// New returns an empty table. random returns numbers from 0 to 1, so that checks spread over
// time.
func New(random func() float64) *Table {
	return &Table{random: random, entries: map[Target]*entry{}, spaces: map[string]*namespace{}}
}

// Use sets the targets to those of d. Those that were in use before keep their states.
func (t *Table) Use(d model.Dynamic, now time.Time) {
	t.round++
	for _, b := range d.Backends {
		if check := checkOf(b); check != nil {
			for _, endpoint := range b.Endpoints {
				t.use(Target{*check, endpoint}, b.Target.Namespace, now)
			}
		}
	}
	for target, e := range t.entries {
		if e.round != t.round {
			delete(t.entries, target)
			t.drop(e)
		}
	}
}

func checkOf(b *model.Backend) *model.Check {
	if b.Balancing == nil {
		return nil
	}
	return b.Balancing.Check
}

func (t *Table) use(target Target, of string, now time.Time) {
	e := t.entries[target]
	if e == nil {
		e = &entry{target: target, of: t.namespace(of), due: now.Add(time.Duration(t.random() * float64(target.Check.Interval) * float64(time.Second)))}
		t.entries[target] = e
		heap.Push(e.of, e)
	}
	e.round = t.round
}

// jitter is the largest part by which an interval is longer than asked.
const jitter = 0.1

// Learn stores the result of a check that Next has started: the reason of a failure, or ""
// for a healthy endpoint. It reports whether the result of Apply changes.
func (t *Table) Learn(c *Check, failure string, now time.Time) (changed bool) {
	e := (*entry)(c)
	defer t.end(e)
	if e.gone {
		return false
	}
	interval := time.Duration(e.target.Check.Interval) * time.Second
	e.due = now.Add(interval + time.Duration(t.random()*jitter*float64(interval)))
	heap.Push(e.of, e)
	was := e.failing
	changed = e.learn(failure)
	t.failing += number(e.failing) - number(was)
	return changed
}

func number(set bool) int {
	if set {
		return 1
	}
	return 0
}

// Failing returns the number of failing targets.
func (t *Table) Failing() int { return t.failing }

func (e *entry) learn(failure string) (changed bool) {
	before := e.reason
	if failure != "" {
		e.reason = failure
	}
	if (failure != "") == e.failing {
		e.against = 0
		return e.failing && e.reason != before
	}
	e.against++
	most := e.target.Check.Unhealthy
	if e.failing {
		most = e.target.Check.Healthy
	}
	if e.against < most {
		return false
	}
	e.failing, e.against = !e.failing, 0
	return true
}
