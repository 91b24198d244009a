package quarantine

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"sluice/internal/model"
)

// Subject is the unit of quarantine: an object, or a part of it that nginx rejects
// separately, such as a group of settings or a TCP service. Part is "" for the whole
// object.
type Subject struct {
	model.ObjectRef
	Part string
}

// Of returns the Subject of a whole object.
func Of(o model.ObjectRef) Subject { return Subject{ObjectRef: o} }

// Compare orders by object, then by part.
func (s Subject) Compare(o Subject) int {
	return cmp.Or(s.ObjectRef.Compare(o.ObjectRef), strings.Compare(s.Part, o.Part))
}

// Form is the content of a Subject at one time: a pointer, or another comparable
// value.
type Form any

// Look returns the current form of a Subject, nil if there is none.
type Look func(Subject) Form

// Dependency is the form of a Subject at the time when nginx rejected another one.
type Dependency struct {
	Subject Subject
	Form    Form
}

// Basis is everything that a verdict depended on besides the rejected form:
// templates, settings, other objects, nginx itself.
type Basis []Dependency

// Basis returns the current forms of the subjects.
func (look Look) Basis(subjects ...Subject) Basis {
	basis := make(Basis, 0, len(subjects))
	for _, s := range subjects {
		basis = append(basis, Dependency{s, look(s)})
	}
	return basis
}

// holds reports whether all dependencies are unchanged.
func (q *Quarantine) holds(b Basis, look Look) bool {
	return !slices.ContainsFunc(b, func(d Dependency) bool { return !q.same(look(d.Subject), d.Form) })
}

// renewed returns the same subjects with their current forms.
func (b Basis) renewed(look Look) Basis {
	now := slices.Clone(b)
	for i, d := range now {
		now[i].Form = look(d.Subject)
	}
	return now
}

// Stand is how a Subject in quarantine is served.
type Stand int

// The stands.
const (
	AsGood       Stand = iota // in its last good form
	AsClosed                  // in the refused form, whose paths answer 503
	AsBeginnings              // the same, and everything that begins like its paths returns 503
	AsNone                    // not at all, because it does not restrict access
)

func (s Stand) denies() bool { return s == AsClosed || s == AsBeginnings }

// Refusal is one Subject in quarantine.
type Refusal struct {
	Subject Subject
	Refused Form
	// Good is the last good form, nil if nginx accepts none.
	Good Form
	Text string
	// Waits is set while it is unknown whether nginx accepts the refused form.
	Waits bool
	// Closes is set if its paths must return 503 instead of being open: it protects,
	// or its last good form protects less.
	Closes bool
	Stand  Stand
	Basis  Basis
	// Apart is set if it can be tested separately.
	Apart bool
	// Joins is set while it is left out only because nginx refuses it with others.
	Joins bool

	// due is when it is tested without a known change: for the first time, if it
	// waits, or again. It is zero for never.
	due time.Time
	// undecided counts the tests since then that did not decide on it.
	undecided int
	// turn is the turn in which its form or its Basis last changed.
	turn int
	hash string
}

// Form returns the form to serve, nil for nothing.
func (r *Refusal) Form() Form {
	switch r.Stand {
	case AsGood:
		return r.Good
	case AsNone:
		return nil
	}
	return r.Refused
}

// Hash returns a hash of the refused form, which is computed once.
func (r *Refusal) Hash(compute func(Form) string) string {
	if r.hash == "" {
		r.hash = compute(r.Refused)
	}
	return r.hash
}

// begin chooses the first substitute.
func (r *Refusal) begin(protects func(refused, good Form) bool) {
	r.Closes = protects(r.Refused, r.Good)
	switch {
	case r.Closes:
		r.Stand = AsClosed
	case r.Good != nil:
		r.Stand = AsGood
	default:
		r.Stand = AsNone
	}
}

// next chooses the substitute after one that nginx rejects; false if there is none. A
// form that restricts access is never left out.
func (r *Refusal) next(protects func(refused, good Form) bool) bool {
	switch r.Stand {
	case AsGood:
		r.Good = nil
		r.begin(protects)
		return true
	case AsClosed:
		r.Stand = AsBeginnings
		return true
	}
	return false
}
