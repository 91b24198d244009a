package quarantine

import (
	"maps"
	"slices"
	"time"
)

// probation is how long changes of a namespace are tested separately after nginx
// rejected something of it.
const probation = time.Minute

// The first retry of a refused form comes after firstRetry, and each later one after
// twice the time, up to longestRetry.
const (
	firstRetry   = 30 * time.Second
	longestRetry = 30 * time.Minute
)

// A form that its first test did not decide on waits firstWait, and after each later
// one twice the time, up to longestWait.
const (
	firstWait   = time.Second
	longestWait = time.Minute
)

// doubled returns a time after a number of doublings, most at most.
func doubled(wait time.Duration, times int, most time.Duration) time.Duration {
	for range times {
		wait = min(2*wait, most)
	}
	return wait
}

// retryLater schedules another test of a form. It may be rejected only together with others,
// or because of a name that does not resolve, and no Basis shows when that changes.
func (q *Quarantine) retryLater(r *Refusal) {
	r.due, r.undecided = time.Time{}, 0
	if !r.Apart {
		return
	}
	r.due = q.now().Add(doubled(firstRetry, q.retries[r.Subject], longestRetry))
	q.retries[r.Subject]++
}

// wait makes a form wait for its first test, which is due at once.
func (q *Quarantine) wait(r *Refusal) {
	r.Waits, r.Joins, r.due, r.undecided = true, false, q.now(), 0
}

// notDecided schedules another test of a form after one that did not decide on it.
func (q *Quarantine) notDecided(r *Refusal) {
	first, longest := firstRetry, longestRetry
	if r.Waits {
		first, longest = firstWait, longestWait
	}
	r.due = q.now().Add(doubled(first, r.undecided, longest))
	r.undecided++
}

// Struck returns the namespaces in which nginx rejected something in the last minute,
// with the time; nil if there are none.
func (q *Quarantine) Struck() map[string]time.Time {
	for namespace, at := range q.struck {
		if q.now().Sub(at) > probation {
			delete(q.struck, namespace)
		}
	}
	return q.struck
}

// Hold delays a new form of a struck namespace until a separate test, so that nobody
// else waits for that. It does not hold forms that passed such a test, or good ones.
func (q *Quarantine) Hold(f Finding) {
	if q.refusals[f.Subject] != nil || q.passed[f.Subject] == f.Refused || q.same(f.Good, f.Refused) {
		return
	}
	f.Undecided = true
	q.add(f)
}

// Next returns the refusals of one namespace whose test is due, in no particular order: of
// the namespace after last, by name, so that each has its turn. It passes over those that
// are busy.
func (q *Quarantine) Next(last string, busy func(namespace string) bool) (namespace string, due []Refusal) {
	byNamespace := map[string][]Refusal{}
	now := q.now()
	for _, r := range q.refusals {
		if !r.due.IsZero() && !now.Before(r.due) && !busy(r.Subject.Namespace) {
			byNamespace[r.Subject.Namespace] = append(byNamespace[r.Subject.Namespace], *r)
		}
	}
	if len(byNamespace) == 0 {
		return "", nil
	}
	names := slices.Sorted(maps.Keys(byNamespace))
	at := slices.IndexFunc(names, func(name string) bool { return name > last })
	namespace = names[max(at, 0)]
	return namespace, byNamespace[namespace]
}

// Due returns when to call Next again without a change, zero for never. What is due in a busy
// namespace waits for the end of its test.
func (q *Quarantine) Due(busy func(namespace string) bool) (next time.Time) {
	for _, r := range q.refusals {
		if !r.due.IsZero() && !busy(r.Subject.Namespace) && (next.IsZero() || r.due.Before(next)) {
			next = r.due
		}
	}
	return next
}

// Settle records the results of a test, and returns the number of decided refusals. One
// that passed is served; one without a verdict was not reached, and stays due. A refusal
// that changed meanwhile has to be tested again.
func (q *Quarantine) Settle(tested []Refusal, verdicts map[Subject]Verdict) (decided int) {
	for _, was := range tested {
		r, verdict := q.refusals[was.Subject], verdicts[was.Subject]
		switch {
		case r == nil || r.turn != was.turn || verdict == (Verdict{}):
			continue
		case verdict.Undecided:
			q.notDecided(r)
			continue
		case verdict.Passed:
			q.passed[r.Subject] = r.Refused
			delete(q.refusals, r.Subject)
		default:
			q.refused(r, verdict)
		}
		decided++
	}
	return decided
}

// PutBack leaves out a form that passed a separate test and that nginx refuses together
// with others. It joins them later, without another test.
func (q *Quarantine) PutBack(f Finding) {
	f.Undecided = true
	q.add(f)
	r := q.refusals[f.Subject]
	r.Joins, r.due = true, time.Time{}
}

// Join serves again what was put back, and reports whether there was any.
func (q *Quarantine) Join() (any bool) {
	for subject, r := range q.refusals {
		if r.Joins {
			any = true
			q.passed[subject] = r.Refused
			delete(q.refusals, subject)
		}
	}
	return any
}

// refused ends the wait of a refusal that nginx rejected in a test. A retry without a
// change does not strike the namespace.
func (q *Quarantine) refused(r *Refusal, verdict Verdict) {
	if r.Waits {
		q.struck[r.Subject.Namespace] = q.now()
	}
	r.Waits, r.Text = false, verdict.Text
	q.retryLater(r)
	if q.same(r.Good, r.Refused) {
		r.Good = nil
		r.begin(q.judge.Protects)
		q.changed(r)
	}
}
