package model

import "slices"

// Joined joins lists of Problems to one, and remembers it. The zero value is
// ready. Most syncs find the Problems that the one before found, or those of one
// object differ: then these are merged into what was sorted before.
type Joined struct {
	of    any
	parts [][]Problem
	// sorted are all Problems of the parts, all the same without repetitions.
	sorted, all []Problem
}

// Join gives what SortProblems makes of all parts; neither may be changed after
// that. If of and the parts are those of the call before, so is the list: who
// was given it knows by SameProblems that there is nothing new.
func (j *Joined) Join(of any, parts ...[]Problem) []Problem {
	gone, came := differingParts(j.parts, parts)
	if len(gone)+len(came) > 0 || j.of != of {
		j.sorted = j.merge(gone, came, parts)
		j.all = slices.Clip(j.sorted)
		if repeats(j.sorted) {
			j.all = slices.Clip(slices.Compact(slices.Clone(j.sorted)))
		}
	}
	j.of, j.parts = of, slices.Clone(parts)
	return j.all
}

// SameProblems reports whether two lists are the very same, without a look at
// what they hold.
func SameProblems(a, b []Problem) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// differingParts gives the parts that only one of two calls has. Where as many went
// as came, each is compared with the one in its place, and of both is left what the
// other lacks.
func differingParts(before, now [][]Problem) (gone, came [][]Problem) {
	equal := func(a, b []Problem) bool { return SameProblems(a, b) || slices.Equal(a, b) }
	for len(before) > 0 && len(now) > 0 && equal(before[0], now[0]) {
		before, now = before[1:], now[1:]
	}
	for len(before) > 0 && len(now) > 0 && equal(before[len(before)-1], now[len(now)-1]) {
		before, now = before[:len(before)-1], now[:len(now)-1]
	}
	gone, came = without(before, now), without(now, before)
	if len(gone) == len(came) {
		for i := range gone {
			came[i], gone[i] = Differing(gone[i], came[i])
		}
	}
	empty := func(p []Problem) bool { return len(p) == 0 }
	return slices.DeleteFunc(gone, empty), slices.DeleteFunc(came, empty)
}

// without gives the parts that others lack, by the pointer; one that is there
// several times counts as often.
func without(parts, others [][]Problem) (found [][]Problem) {
	there := make(map[*Problem]int, len(others))
	for _, p := range others {
		if len(p) > 0 {
			there[&p[0]]++
		}
	}
	for _, p := range parts {
		switch {
		case len(p) == 0:
		case there[&p[0]] > 0:
			there[&p[0]]--
		default:
			found = append(found, p)
		}
	}
	return found
}

// Differing gives what came and what went between two lists. Where both are sorted
// it is no more than that.
func Differing(before, now []Problem) (came, went []Problem) {
	for len(before) > 0 || len(now) > 0 {
		switch {
		case len(before) > 0 && len(now) > 0 && before[0] == now[0]:
			before, now = before[1:], now[1:]
		case len(now) == 0 || len(before) > 0 && before[0].Compare(now[0]) < 0:
			went, before = append(went, before[0]), before[1:]
		default:
			came, now = append(came, now[0]), now[1:]
		}
	}
	return came, went
}

// merge gives the sorted list without what is gone and with what came, in a copy.
// Where that is most of it, all parts are sorted anew.
func (j *Joined) merge(gone, came, parts [][]Problem) []Problem {
	out, in := sortAll(gone), sortAll(came)
	if len(out)+len(in) > len(j.sorted)/2 {
		return sortAll(parts)
	}
	left := j.sorted
	merged := make([]Problem, 0, len(left)+len(in))
	skipTo := func(p Problem) (found bool) {
		at, found := slices.BinarySearchFunc(left, p, Problem.Compare)
		merged, left = append(merged, left[:at]...), left[at:]
		return found
	}
	for len(out) > 0 || len(in) > 0 {
		if len(out) == 0 || len(in) > 0 && in[0].Compare(out[0]) < 0 {
			skipTo(in[0])
			merged, in = append(merged, in[0]), in[1:]
			continue
		}
		if !skipTo(out[0]) {
			return sortAll(parts)
		}
		left, out = left[1:], out[1:]
	}
	return append(merged, left...)
}

// sortAll gives the Problems of all parts as SortProblems does, with repetitions.
func sortAll(parts [][]Problem) []Problem {
	all := slices.Concat(parts...)
	sortShown(all)
	return all
}

// repeats reports whether a sorted list has something twice.
func repeats(sorted []Problem) bool {
	for i := 1; i < len(sorted); i++ {
		if sorted[i-1] == sorted[i] {
			return true
		}
	}
	return false
}
