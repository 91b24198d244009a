// Package quarantine decides what to serve of everything that nginx rejects:
// Ingresses, groups of settings, TCP and UDP services, and templates.
//
// It takes Findings: nginx rejected a Subject in a form, for a reason, and the
// verdict depended on a Basis. It returns the form to serve instead: the last good
// form, the form with its paths closed, or nothing. A Refusal ends when its Subject
// changes. When its Basis changes, a Subject that can be tested separately waits for
// such a test, and any other is served again.
//
// The package is pure: it calls neither nginx nor the clock, and knows no kind of
// object.
package quarantine

import (
	"iter"
	"maps"
	"time"
)

// Judge compares forms.
type Judge struct {
	// Same reports whether two forms of one Subject are equal, though they are
	// different values: a source may decode one object twice. Neither is nil.
	Same func(a, b Form) bool
	// Protects reports whether the refused form restricts access more than the last
	// good form, or at all if good is nil.
	Protects func(refused, good Form) bool
}

// Quarantine holds one Refusal for each Subject. Use New.
type Quarantine struct {
	judge Judge
	now   func() time.Time

	refusals map[Subject]*Refusal
	// struck is the time of the last refusal in each namespace: changes there are
	// tested separately first (see Hold).
	struck map[string]time.Time
	// passed are forms that passed a separate test and have not changed since.
	passed map[Subject]Form
	// retries counts the refusals of a Subject that may pass another time.
	retries map[Subject]int
	// turn counts the changes of refusals.
	turn int
}

// New returns an empty quarantine.
func New(judge Judge, now func() time.Time) *Quarantine {
	return &Quarantine{
		judge: judge, now: now, refusals: map[Subject]*Refusal{},
		struck: map[string]time.Time{}, passed: map[Subject]Form{}, retries: map[Subject]int{},
	}
}

func (q *Quarantine) same(a, b Form) bool {
	return a == b || a != nil && b != nil && q.judge.Same(a, b)
}

// Verdict is the result of a test of a form.
type Verdict struct {
	// Text is nginx's message, in one line.
	Text string
	// Undecided is set if only a separate test can tell whether nginx rejects it. Passed is
	// set if one told that nginx accepts it.
	Undecided, Passed bool
}

// Finding is a Subject that nginx rejects, or that waits for a test.
type Finding struct {
	Subject Subject
	Verdict
	// Refused is the current form of the source. Good is the last form that nginx ran
	// with, nil for none.
	Refused, Good Form
	// Basis is everything else that the verdict depended on.
	Basis Basis
	// Apart is set if the Subject can be tested separately.
	Apart bool
}

// Turn returns the number of the current state. A plan records it, so that Refuse
// knows which forms the plan contained.
func (q *Quarantine) Turn() int { return q.turn }

// Refuse records a finding about a plan of the given turn, and reports whether other
// forms are served now: the first substitute of the rejected form, or the next one if
// nginx rejects that too. A plan from before the last change of a refusal says
// nothing about the form that is served since.
func (q *Quarantine) Refuse(turn int, f Finding) bool {
	if f.Apart && !f.Undecided && q.retries[f.Subject] == 0 { // a retry is not a change
		q.struck[f.Subject.Namespace] = q.now()
	}
	if r := q.refusals[f.Subject]; r != nil {
		if r.turn > turn || f.Undecided && r.Stand.denies() || !r.next(q.judge.Protects) {
			return false // the served form was not refused, or there is no other
		}
		q.changed(r)
		return true
	}
	if !f.Undecided && q.same(f.Good, f.Refused) {
		f.Good = nil // rejected by itself, though it was good before
	}
	q.add(f)
	return true
}

func (q *Quarantine) add(f Finding) {
	r := &Refusal{Subject: f.Subject, Refused: f.Refused, Good: f.Good, Text: f.Text, Basis: f.Basis, Apart: f.Apart}
	r.begin(q.judge.Protects)
	if f.Undecided {
		q.wait(r)
	} else {
		q.retryLater(r)
	}
	q.refusals[f.Subject] = r
	q.changed(r)
}

// changed increases the turn and stores it in a refusal.
func (q *Quarantine) changed(r *Refusal) {
	q.turn++
	r.turn = q.turn
}

// Release reviews the refusals whose form is of some kind. It reports whether any
// ended because its Subject or its Basis changed. If only the Basis changed, a
// Subject that can be tested separately waits for a test instead.
func (q *Quarantine) Release(of func(Form) bool, look Look) (released bool) {
	for subject, r := range q.refusals {
		if !of(r.Refused) {
			continue
		}
		now := look(subject)
		switch {
		case !q.same(now, r.Refused):
			delete(q.retries, subject)
		case q.holds(r.Basis, look):
			r.Refused = now
			continue
		case r.Apart:
			r.Refused = now
			q.review(r, look)
			continue
		}
		delete(q.refusals, subject)
		released = true
	}
	for subject, form := range q.passed {
		if of(form) && look(subject) != form {
			delete(q.passed, subject)
			delete(q.retries, subject)
		}
	}
	return released
}

// review makes a refusal wait for a test, because its Basis changed.
func (q *Quarantine) review(r *Refusal, look Look) {
	r.Basis = r.Basis.renewed(look)
	q.wait(r)
	if q.judge.Protects(r.Refused, r.Good) && !r.Closes {
		r.begin(q.judge.Protects)
	}
	q.changed(r)
}

// Of returns the refusal of a Subject, nil if it is not in quarantine.
func (q *Quarantine) Of(s Subject) *Refusal { return q.refusals[s] }

// All returns the refusals in no particular order.
func (q *Quarantine) All() iter.Seq[*Refusal] { return maps.Values(q.refusals) }

// Empty reports whether nothing is in quarantine.
func (q *Quarantine) Empty() bool { return len(q.refusals) == 0 }

// Undecided returns the number of Subjects that are not served and that no test decided on
// yet, without those of the namespaces in which nginx refuses something.
func (q *Quarantine) Undecided() int {
	refusing := map[string]bool{}
	for _, r := range q.refusals {
		if r.Apart && !r.Waits {
			refusing[r.Subject.Namespace] = true
		}
	}
	count := 0
	for _, r := range q.refusals {
		if r.Waits && r.Stand != AsGood && !refusing[r.Subject.Namespace] {
			count++
		}
	}
	return count
}

// Untested reports whether a test of a form is due that had none yet.
func (q *Quarantine) Untested() bool {
	for _, r := range q.refusals {
		if r.Waits && !r.due.IsZero() && !q.now().Before(r.due) {
			return true
		}
	}
	return false
}

// Passed returns the forms that passed a separate test and have not changed since.
func (q *Quarantine) Passed() map[Subject]Form { return maps.Clone(q.passed) }
