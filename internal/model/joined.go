package model

import "slices"

// Joined joins lists of Problems to one, and remembers it. The zero value is ready to
// use. Most syncs find the Problems of the last one, or those of one object differ:
// then Join merges these into the sorted list.
type Joined struct {
	of    any
	parts [][]Problem
	// sorted are the Problems of all parts; all are the same without repetitions.
	sorted, all []Problem
}

// Join returns SortProblems of all parts. The parts and the result must not be changed
// after that. If of and the parts are those of the last call, it returns the same list,
// which SameProblems recognises.
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

// SameProblems reports whether two lists are the same by pointer and length, without
// comparing their elements.
func SameProblems(a, b []Problem) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// differingParts returns the parts that only one of two calls has. If both numbers are
// equal, it compares the parts in pairs, and keeps the elements that the other lacks.
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

// without returns the parts that others lack, by their pointers. Repeated parts count
// as often as they occur.
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

// Differing returns the elements that came and went between two lists. If both are
// sorted, these are the minimum.
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

// merge returns a copy of the sorted list without gone and with came. It sorts all
// parts again if these are most of the list.
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

// sortAll returns the Problems of all parts, sorted as by SortProblems, with
// repetitions.
func sortAll(parts [][]Problem) []Problem {
	all := slices.Concat(parts...)
	sortShown(all)
	return all
}

// repeats reports whether a sorted list has a repetition.
func repeats(sorted []Problem) bool {
	for i := 1; i < len(sorted); i++ {
		if sorted[i-1] == sorted[i] {
			return true
		}
	}
	return false
}
