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
	"slices"
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
	uses    map[string]*use // by the key of the backend
	turns   turns
	// failing is the number of failing targets.
	failing int
	// round counts the calls of Use.
	round int
}

// entry is a target with its state.
type entry struct {
	target Target
	// places has one for each namespace that uses it; none once it is gone.
	places []*place
	due    time.Time
	runs   bool
	state
}

// use holds the places of a backend's endpoints, in their order.
type use struct {
	backend *model.Backend
	places  []*place
	round   int
}

// Check is a check that runs, in the turn of a namespace.
type Check struct {
	entry *entry
	of    *namespace
}

// Target returns what is checked.
func (c *Check) Target() Target { return c.entry.target }

// New returns an empty table. random returns numbers from 0 to 1, so that checks spread over
// time.
func New(random func() float64) *Table {
	return &Table{random: random, entries: map[Target]*entry{}, uses: map[string]*use{}, turns: newTurns()}
}

// Use sets the targets to those of d. Those that were in use before keep their states. Its
// cost is by the number of backends, and by the endpoints of those that changed.
func (t *Table) Use(d model.Dynamic, now time.Time) {
	t.round++
	var gone []*place
	for _, b := range d.Backends {
		if check := checkOf(b); check != nil {
			gone = append(gone, t.use(b, *check, now)...)
		}
	}
	for key, u := range t.uses {
		if u.round != t.round {
			delete(t.uses, key)
			gone = append(gone, u.places...)
		}
	}
	for _, p := range gone {
		t.release(p)
	}
}

func checkOf(b *model.Backend) *model.Check {
	if b.Balancing == nil {
		return nil
	}
	return b.Balancing.Check
}

// use takes a place for each endpoint of a backend, and returns the places that the backend
// had before if it changed. These are released last, because another backend may need them.
func (t *Table) use(b *model.Backend, check model.Check, now time.Time) (before []*place) {
	u := t.uses[b.Key]
	if u == nil {
		u = &use{}
		t.uses[b.Key] = u
	}
	u.round = t.round
	if u.backend == b {
		return nil
	}
	before = u.places
	u.backend, u.places = b, make([]*place, len(b.Endpoints))
	n := t.turns.namespace(b.Target.Namespace)
	for i, endpoint := range b.Endpoints {
		u.places[i] = t.take(Target{check, endpoint}, n, now)
	}
	t.turns.arrange(n)
	return before
}

// take returns the place of a target in a namespace.
func (t *Table) take(target Target, n *namespace, now time.Time) *place {
	e := t.entries[target]
	if e == nil {
		e = &entry{target: target, due: now.Add(time.Duration(t.random() * float64(target.Check.Interval) * float64(time.Second)))}
		t.entries[target] = e
	}
	p := n.places[e]
	if p == nil {
		p = &place{entry: e, of: n, at: absent}
		n.places[e], e.places = p, append(e.places, p)
		if !e.runs {
			n.queue.add(p)
		}
	}
	p.uses++
	return p
}

// release ends one use of a place. The last one of a target removes it.
func (t *Table) release(p *place) {
	if p.uses--; p.uses > 0 {
		return
	}
	e, n := p.entry, p.of
	delete(n.places, e)
	n.queue.remove(p)
	t.turns.arrange(n)
	at := slices.Index(e.places, p)
	e.places = slices.Delete(e.places, at, at+1)
	if len(e.places) == 0 {
		delete(t.entries, e.target)
		t.failing -= number(e.failing)
	}
}

// Next starts the check that comes next, and is followed by a call of Learn. If there is
// none, check is nil, and wait is the time until one can come; the end of a check shortens
// it.
func (t *Table) Next(now time.Time) (check *Check, wait time.Duration) {
	n, wait := t.turns.next(now)
	if n == nil {
		return nil, wait
	}
	e := n.queue.first().entry
	e.runs = true
	t.turns.start(n, now)
	for _, p := range e.places {
		p.of.queue.remove(p)
		t.turns.arrange(p.of)
	}
	return &Check{e, n}, 0
}

// jitter is the largest part by which an interval is longer than asked.
const jitter = 0.1

// Learn stores the result of a check that Next has started: the reason of a failure, or ""
// for a healthy endpoint. It reports whether the result of Apply changes.
func (t *Table) Learn(c *Check, failure string, now time.Time) (changed bool) {
	e := c.entry
	t.turns.end(c.of)
	if len(e.places) == 0 {
		return false
	}
	interval := time.Duration(e.target.Check.Interval) * time.Second
	e.due, e.runs = now.Add(interval+time.Duration(t.random()*jitter*float64(interval))), false
	for _, p := range e.places {
		p.of.queue.add(p)
		t.turns.arrange(p.of)
	}
	was := e.failing
	changed = e.learn(e.target.Check, failure, now)
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
