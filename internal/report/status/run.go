package status

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

const (
	// parallel is the maximum number of concurrent writes, as in ingress-nginx.
	parallel = 10
	// The shortest and longest wait after a failed write, and after a read that found
	// no addresses.
	leastWait, mostWait = time.Second, 5 * time.Minute
	// complaintWait is the minimum interval between log lines for one kind of error.
	complaintWait = time.Minute
)

// Run writes statuses until ctx ends. Call it once.
func (s *Statuses) Run(ctx context.Context, leader Leader) {
	s.mu.Lock()
	s.leader = leader
	s.mu.Unlock()
	var workers sync.WaitGroup
	defer workers.Wait()
	for range parallel {
		workers.Go(func() { s.serve(ctx) })
	}
	changes := leader.Changes()
	r := reading{every: s.Interval}
	for ctx.Err() == nil {
		r.read(ctx, s)
		due, next := s.scan(time.Now())
		s.feed(ctx, due)
		select {
		case <-time.After(time.Until(earlier(r.next, next))):
		case <-s.wake:
		case <-changes:
			s.begin()
		case <-ctx.Done():
		}
	}
}

// begin forgets what was written before the leader changed, because another replica
// may have written since.
func (s *Statuses) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stale = true
	for _, e := range s.entries {
		e.written, e.failures, e.notBefore, e.contest = nil, 0, time.Time{}, contest{}
	}
}

// scan takes over the latest list. It returns the Ingresses that need an action, and
// when to scan again.
func (s *Statuses) scan(now time.Time) (due []snapshot.Name, next time.Time) {
	s.mu.Lock()
	s.takeOver()
	next = now.Add(s.Interval)
	for name, e := range s.entries {
		if s.look(e, now) != nothing {
			due = append(due, name)
		}
		if now.Before(e.notBefore) {
			next = earlier(next, e.notBefore)
		}
	}
	changed := s.collect()
	s.mu.Unlock()
	if changed && s.Changed != nil {
		s.Changed()
	}
	return due, next
}

// takeOver creates the entries of the latest list. Callers hold mu.
func (s *Statuses) takeOver() {
	if s.taken {
		return
	}
	entries := make(map[snapshot.Name]*entry, len(s.latest))
	for _, served := range s.latest {
		e := s.entries[served.Name]
		if e == nil || e.served.UID != served.UID {
			e = &entry{}
		}
		e.served = served
		entries[served.Name] = e
	}
	s.entries, s.taken = entries, true
}

// collect rebuilds the Problems, and reports whether they changed. Callers hold mu.
func (s *Statuses) collect() bool {
	var problems []model.Problem
	for _, e := range s.entries {
		if e.contest.rested && e.contest.rival != "" {
			problems = append(problems, e.problem())
		}
	}
	problems = model.SortProblems(problems)
	changed := !slices.Equal(problems, s.problems)
	s.problems = problems
	return changed
}

// feed passes names to the workers, as fast as they accept them.
func (s *Statuses) feed(ctx context.Context, due []snapshot.Name) {
	for _, name := range due {
		select {
		case s.work <- name:
		case <-ctx.Done():
			return
		}
	}
}

func (s *Statuses) serve(ctx context.Context) {
	for {
		select {
		case name := <-s.work:
			s.attend(ctx, name)
		case <-ctx.Done():
			return
		}
	}
}

// attend executes the current step of one Ingress.
func (s *Statuses) attend(ctx context.Context, name snapshot.Name) {
	s.mu.Lock()
	e := s.entries[name]
	if e == nil {
		s.mu.Unlock()
		return
	}
	todo := s.look(e, time.Now())
	if todo == nothing {
		s.mu.Unlock()
		return
	}
	served, wanted := e.served, s.wanted(e)
	e.busy = true
	s.inFlight.Add(1)
	s.mu.Unlock()
	defer s.inFlight.Done()

	if todo == ask {
		rival, err := s.rival(ctx, name)
		s.finish(e, err, func() { e.contest.rival, e.contest.asked = rival, true })
		return
	}
	version, err := s.put(ctx, served, wanted)
	s.finish(e, err, func() { e.written = &written{wanted, version} })
}

// finish records the result of a step.
func (s *Statuses) finish(e *entry, err error, done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.busy = false
	if err == nil {
		e.failures, e.notBefore = 0, time.Time{}
		done()
	} else {
		e.notBefore = time.Now().Add(wait(e.failures))
		e.failures++
		s.complain(notWritten, e.served.Name.String(), err)
	}
	// The served Ingresses or the addresses may have changed meanwhile.
	s.Recheck()
}

// wait grows with the number of failures. It varies a little so that retries spread
// out.
func wait(failures int) time.Duration {
	d := min(leastWait<<min(failures, 10), mostWait)
	return d + rand.N(d/4)
}

// complaint is when an error of one kind was last logged, and the number of such
// errors since.
type complaint struct {
	at   time.Time
	more int
}

// The effects of errors, for the log.
const (
	notWritten = "status not written; it is tried again"
	notRead    = "addresses of the status not read; those that were known are kept"
)

// complain logs an error, at most once per complaintWait for each kind. Callers hold
// mu.
func (s *Statuses) complain(cost, object string, err error) {
	if apierrors.IsNotFound(err) && cost == notWritten {
		return // the Ingress was deleted meanwhile
	}
	kind := cost + string(apierrors.ReasonForError(err))
	c := s.complaints[kind]
	if c == nil {
		c = &complaint{}
		s.complaints[kind] = c
	}
	if !c.at.IsZero() && time.Since(c.at) < complaintWait {
		c.more++
		return
	}
	attributes := []any{"error", err, "more", c.more}
	if object != "" {
		attributes = append([]any{"object", "Ingress " + object}, attributes...)
	}
	s.Log.Error(cost, attributes...)
	c.at, c.more = time.Now(), 0
}

// reading schedules the next read of the addresses.
type reading struct {
	every time.Duration
	next  time.Time
	tries int
}

// read reads the addresses if they are due. If there are none, the next read is soon,
// because pods become ready and load balancers get addresses one after the other.
func (r *reading) read(ctx context.Context, s *Statuses) {
	s.mu.Lock()
	stale, leads := s.stale, s.leader.IsLeader()
	s.stale = s.stale && !leads
	s.mu.Unlock()
	now := time.Now()
	switch {
	case !leads:
		r.next, r.tries = now.Add(r.every), 0
		return
	case now.Before(r.next) && !stale:
		return
	}
	if s.readAddresses(ctx) {
		r.next, r.tries = now.Add(r.every), 0
		return
	}
	r.next = now.Add(min(r.every, wait(r.tries)))
	r.tries++
}

// readAddresses reads the addresses and reports whether there are any. If the read
// fails, the known ones stay.
func (s *Statuses) readAddresses(ctx context.Context) bool {
	limited, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	addresses, err := s.Source.read(limited)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		if ctx.Err() == nil {
			s.complain(notRead, "", err)
		}
		return false
	}
	if !slices.Equal(addresses, s.addresses) {
		s.Log.Info("addresses of the status", "addresses", addresses)
	}
	s.addresses = addresses
	return len(addresses) > 0
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
