package model

import "slices"

// Joined joins lists of Problems to one, and remembers it. The zero value is
// ready. Most syncs find the Problems that the one before found.
type Joined struct {
	of    any
	parts [][]Problem
	all   []Problem
}

// Join gives what SortProblems makes of all parts; neither may be changed after
// that. If of and the parts are those of the call before, so is the list: who
// was given it knows by SameProblems that there is nothing new.
func (j *Joined) Join(of any, parts ...[]Problem) []Problem {
	equal := func(a, b []Problem) bool { return SameProblems(a, b) || slices.Equal(a, b) }
	if j.of != of || !slices.EqualFunc(j.parts, parts, equal) {
		j.of, j.parts = of, slices.Clone(parts)
		j.all = slices.Clip(SortProblems(slices.Concat(parts...)))
	}
	return j.all
}

// SameProblems reports whether two lists are the very same, without a look at
// what they hold.
func SameProblems(a, b []Problem) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
