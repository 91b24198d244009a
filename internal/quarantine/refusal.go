package quarantine

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"sluice/internal/model"
)

// Subject is what nginx refuses as one: an object, or a part of it that is refused
// by itself, such as a group of settings or a TCP service. Part is "" for all of it.
type Subject struct {
	model.ObjectRef
	Part string
}

// Of gives the Subject that is all of an object.
func Of(o model.ObjectRef) Subject { return Subject{ObjectRef: o} }

// Compare orders by object, then by part.
func (s Subject) Compare(o Subject) int {
	return cmp.Or(s.ObjectRef.Compare(o.ObjectRef), strings.Compare(s.Part, o.Part))
}

// Form is what a Subject says at one time: a pointer, or another comparable value.
type Form any

// Look gives the form that a Subject has now, nil if there is none.
type Look func(Subject) Form

// Dependency is the form that a Subject had when nginx refused another one.
type Dependency struct {
	Subject Subject
	Form    Form
}

// Basis is what a verdict depended on besides the form that was refused: templates,
// settings, other objects, nginx itself.
type Basis []Dependency

// Basis gives what all subjects are now.
func (look Look) Basis(subjects ...Subject) Basis {
	basis := make(Basis, 0, len(subjects))
	for _, s := range subjects {
		basis = append(basis, Dependency{s, look(s)})
	}
	return basis
}

// holds reports whether all is as it was.
func (q *Quarantine) holds(b Basis, look Look) bool {
	return !slices.ContainsFunc(b, func(d Dependency) bool { return !q.same(look(d.Subject), d.Form) })
}

// renewed gives what the same subjects are now.
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
	AsBeginnings              // the same, and all that begins as its paths do
	AsNone                    // not at all, as it keeps nobody out
)

func (s Stand) denies() bool { return s == AsClosed || s == AsBeginnings }

// Refusal is one Subject in quarantine.
type Refusal struct {
	Subject Subject
	Refused Form
	// Good is its last good form, nil if it has none that nginx takes.
	Good Form
	Text string
	// Waits is set while nobody knows whether nginx takes the refused form.
	Waits bool
	// Closes is set if its paths answer 503 rather than being open: it protects, or
	// its last good form protects less.
	Closes bool
	Stand  Stand
	Basis  Basis
	// Apart is set if it can be tested apart from what is served.
	Apart bool

	// retry is when it is tested again though nothing changed that is known to
	// matter; zero for never.
	retry time.Time
	// turn is when its form or its Basis last changed.
	turn int
	hash string
}

// Form gives what is served of it, nil for nothing.
func (r *Refusal) Form() Form {
	switch r.Stand {
	case AsGood:
		return r.Good
	case AsNone:
		return nil
	}
	return r.Refused
}

// Hash gives a hash of the refused form, which is computed once.
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

// next goes on to the substitute that comes after one that nginx refuses; false if
// there is none. One that keeps somebody out is never left out.
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
