// Package quarantine is the way back from everything that nginx refuses: Ingresses,
// groups of settings, TCP and UDP services, and templates.
//
// What goes in are Findings: nginx refused a Subject in a form, for a reason, and the
// verdict depended on a Basis. What comes out is the form that is served of each
// Subject meanwhile: its last good form, or its paths closed, or nothing. A Refusal
// ends when its Subject changes. When its Basis changes, a Subject that can be tested
// apart from the rest waits for such a test, and any other is served again.
//
// The package is pure: it asks neither nginx nor the clock, and knows no kind of object.
package quarantine

import (
	"iter"
	"maps"
	"time"
)

// Judge answers what a quarantine asks about forms.
type Judge struct {
	// Same says whether two forms of one Subject say the same, though they are not the
	// same value: a source may decode one object twice. Neither is nil.
	Same func(a, b Form) bool
	// Protects says whether the refused form keeps somebody out whom the last good
	// form lets in; at all if good is nil.
	Protects func(refused, good Form) bool
}

// Quarantine holds the refusals, one a Subject. Use New.
type Quarantine struct {
	judge Judge
	now   func() time.Time

	refusals map[Subject]*Refusal
	// struck has the time of the last refusal of each namespace: what changes there is
	// tested by itself first (see Hold).
	struck map[string]time.Time
	// passed are forms that passed a test of their own and have not changed since.
	passed map[Subject]Form
	// retries counts how often a Subject was refused that may pass another time.
	retries map[Subject]int
	// turn counts the changes of refusals.
	turn int
}

// New gives an empty quarantine.
func New(judge Judge, now func() time.Time) *Quarantine {
	return &Quarantine{
		judge: judge, now: now, refusals: map[Subject]*Refusal{},
		struck: map[string]time.Time{}, passed: map[Subject]Form{}, retries: map[Subject]int{},
	}
}

func (q *Quarantine) same(a, b Form) bool {
	return a == b || a != nil && b != nil && q.judge.Same(a, b)
}

// Verdict is what nginx says of a form.
type Verdict struct {
	// Text is nginx's message, in one line.
	Text string
	// Undecided is set if only a test of its own can tell whether nginx refuses it.
	Undecided bool
	// Final is set if nothing but a change can mend it, so that it need not be tested
	// again after a while.
	Final bool
}

// Finding is a Subject that nginx refuses, or that waits for a test.
type Finding struct {
	Subject Subject
	Verdict
	// Refused is its form as the source has it, Good the form that nginx ran with
	// last; nil for none.
	Refused, Good Form
	// Basis is everything else that the verdict depended on.
	Basis Basis
	// Apart is set if it can be tested apart from what is served.
	Apart bool
}

// Turn numbers the state of the quarantine. A plan notes it, so that Refuse knows
// which forms the plan had.
func (q *Quarantine) Turn() int { return q.turn }

// Refuse takes in a finding about a plan that was made in a turn, and reports whether
// other forms are served now: the first substitute of what was refused, or the next one
// if nginx refuses that too. A plan of before the last change of a refusal says nothing
// about the form that is served since.
func (q *Quarantine) Refuse(turn int, f Finding) bool {
	if f.Apart && !f.Undecided && q.retries[f.Subject] == 0 { // a retry is nobody's change
		q.struck[f.Subject.Namespace] = q.now()
	}
	if r := q.refusals[f.Subject]; r != nil {
		if r.turn > turn || f.Undecided && r.Stand.denies() || !r.next(q.judge.Protects) {
			return false // nobody refused the form that is served, or there is no other
		}
		q.changed(r)
		return true
	}
	if !f.Undecided && q.same(f.Good, f.Refused) {
		f.Good = nil // refused by itself, though it was good before
	}
	q.add(f)
	return true
}

func (q *Quarantine) add(f Finding) {
	r := &Refusal{Subject: f.Subject, Refused: f.Refused, Good: f.Good, Text: f.Text, Waits: f.Undecided, Basis: f.Basis, Apart: f.Apart}
	r.begin(q.judge.Protects)
	if !r.Waits {
		q.retryLater(r, f.Final)
	}
	q.refusals[f.Subject] = r
	q.changed(r)
}

// changed gives a refusal a turn of its own.
func (q *Quarantine) changed(r *Refusal) {
	q.turn++
	r.turn = q.turn
}

// Release looks at those refusals again whose form is of some kind, and reports whether
// any ended because its Subject or its Basis changed. What can be tested apart waits for
// a test instead where only the Basis did.
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

// review has a refusal wait for a test, as its Basis changed.
func (q *Quarantine) review(r *Refusal, look Look) {
	r.Basis, r.Waits = r.Basis.renewed(look), true
	if q.judge.Protects(r.Refused, r.Good) && !r.Closes {
		r.begin(q.judge.Protects)
	}
	q.changed(r)
}

// Of gives the refusal of a Subject, nil if it is not in quarantine.
func (q *Quarantine) Of(s Subject) *Refusal { return q.refusals[s] }

// All gives the refusals, in no order.
func (q *Quarantine) All() iter.Seq[*Refusal] { return maps.Values(q.refusals) }

// Empty reports whether nothing is in quarantine.
func (q *Quarantine) Empty() bool { return len(q.refusals) == 0 }

// Waiting counts the Subjects that are not served and that no test has decided on.
func (q *Quarantine) Waiting() int {
	count := 0
	for _, r := range q.refusals {
		if r.Waits && r.Stand != AsGood {
			count++
		}
	}
	return count
}

// Passed gives the forms that passed a test of their own and have not changed since, for
// a plan to keep.
func (q *Quarantine) Passed() map[Subject]Form { return maps.Clone(q.passed) }
