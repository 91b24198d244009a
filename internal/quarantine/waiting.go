package quarantine

import (
	"cmp"
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

// retryLater schedules another test of a form, unless its verdict is final. A form
// may be rejected only together with others, and no Basis shows when these change.
func (q *Quarantine) retryLater(r *Refusal, final bool) {
	r.due, r.undecided = time.Time{}, 0
	if final || !r.Apart {
		return
	}
	r.due = q.now().Add(doubled(firstRetry, q.retries[r.Subject], longestRetry))
	q.retries[r.Subject]++
}

// wait makes a form wait for its first test, which is due at once.
func (q *Quarantine) wait(r *Refusal) {
	r.Waits, r.due, r.undecided = true, q.now(), 0
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

// Next returns refusals to test together whose test is due, most at most. They are of
// one namespace: the one after last, by name, so that each has its turn, whether its
// forms wait or are tried again. Among those of a namespace the longest due is first.
// The others have as many undecided tests as that one: after each there are fewer.
func (q *Quarantine) Next(last string, most int) []Refusal {
	var due []*Refusal
	now := q.now()
	for _, r := range q.refusals {
		if !r.due.IsZero() && !now.Before(r.due) {
			due = append(due, r)
		}
	}
	if len(due) == 0 {
		return nil
	}
	slices.SortFunc(due, func(a, b *Refusal) int {
		return cmp.Or(strings.Compare(a.Subject.Namespace, b.Subject.Namespace), a.due.Compare(b.due), a.Subject.Compare(b.Subject))
	})
	at := slices.IndexFunc(due, func(r *Refusal) bool { return r.Subject.Namespace > last })
	first := due[max(at, 0)]
	most = max(most>>(2*first.undecided), 1)
	var next []Refusal
	for _, r := range due[max(at, 0):] {
		if len(next) < most && first.goesWith(r) {
			next = append(next, *r)
		}
	}
	return next
}

// goesWith reports whether two refusals may be tested together.
func (r *Refusal) goesWith(o *Refusal) bool {
	return r.Subject.Namespace == o.Subject.Namespace && r.Waits == o.Waits && r.undecided == o.undecided
}

// Due returns when to call Next again without a change; zero for never.
func (q *Quarantine) Due() (next time.Time) {
	for _, r := range q.refusals {
		if !r.due.IsZero() && (next.IsZero() || r.due.Before(next)) {
			next = r.due
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
		case verdict.Undecided:
			q.notDecided(r)
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
