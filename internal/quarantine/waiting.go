package quarantine

import (
	"slices"
	"strings"
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

// retryLater schedules another test of a form, unless its verdict is final. A form
// may be rejected only together with others, and no Basis shows when these change.
func (q *Quarantine) retryLater(r *Refusal, final bool) {
	r.retry = time.Time{}
	if final || !r.Apart {
		return
	}
	wait := firstRetry
	for range q.retries[r.Subject] {
		wait = min(2*wait, longestRetry)
	}
	q.retries[r.Subject]++
	r.retry = q.now().Add(wait)
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

// Next returns refusals of one namespace to test together: the namespace after last,
// by name, so that each has its turn. If none waits, it returns those whose retry is
// due.
func (q *Quarantine) Next(last string, most int) []Refusal {
	var waiting, again []*Refusal
	now := q.now()
	for _, r := range q.refusals {
		if r.Waits {
			waiting = append(waiting, r)
		} else if !r.retry.IsZero() && now.After(r.retry) {
			again = append(again, r)
		}
	}
	if len(waiting) == 0 {
		waiting = again
	}
	if len(waiting) == 0 {
		return nil
	}
	slices.SortFunc(waiting, func(a, b *Refusal) int { return strings.Compare(a.Subject.Namespace, b.Subject.Namespace) })
	at := slices.IndexFunc(waiting, func(r *Refusal) bool { return r.Subject.Namespace > last })
	namespace := waiting[max(at, 0)].Subject.Namespace
	var next []Refusal
	for _, r := range waiting {
		if r.Subject.Namespace == namespace {
			next = append(next, *r)
		}
	}
	slices.SortFunc(next, func(a, b Refusal) int { return a.Subject.Compare(b.Subject) })
	return next[:min(len(next), most)]
}

// Due returns when to call Next again without a change; zero for never.
func (q *Quarantine) Due() (next time.Time) {
	for _, r := range q.refusals {
		if !r.retry.IsZero() && (next.IsZero() || r.retry.Before(next)) {
			next = r.retry
		}
	}
	return next
}

// Settle records the result of a test, and returns the number of decided refusals.
// verdicts contains those that nginx rejects or that are undecided; the others pass
// and are served. A refusal that changed meanwhile has to be tested again.
func (q *Quarantine) Settle(tested []Refusal, verdicts map[Subject]Verdict) (decided int) {
	for _, was := range tested {
		r := q.refusals[was.Subject]
		if r == nil || r.turn != was.turn {
			continue
		}
		verdict, found := verdicts[was.Subject]
		switch {
		case verdict.Undecided && !r.Waits:
			r.retry = q.now().Add(firstRetry)
		case verdict.Undecided:
		case found:
			decided++
			q.refused(r, verdict)
		default:
			decided++
			q.passed[r.Subject] = r.Refused
			delete(q.refusals, r.Subject)
		}
	}
	return decided
}

// refused ends the wait of a refusal that nginx rejected in a test. A retry without a
// change does not strike the namespace.
func (q *Quarantine) refused(r *Refusal, verdict Verdict) {
	if r.Waits {
		q.struck[r.Subject.Namespace] = q.now()
	}
	r.Waits, r.Text = false, verdict.Text
	q.retryLater(r, verdict.Final)
	if q.same(r.Good, r.Refused) {
		r.Good = nil
		r.begin(q.judge.Protects)
		q.changed(r)
	}
}
