package controller

import (
	"errors"
	"slices"

	"sluice/internal/nginx"
)

// sifted is the result of sift. Every item is in one of the three lists.
type sifted[T any] struct {
	passed  []T
	refused []failed[T]
	// rest was not reached. group is how many of it to test together next.
	rest  []T
	group int
}

// failed is an item that nginx refuses, with the error.
type failed[T any] struct {
	item T
	err  error
}

// suspicion is a refusal of a group in which nginx named something of the item at an index.
type suspicion struct {
	error
	at int
}

// Unwrap returns the refusal.
func (s *suspicion) Unwrap() error { return s.error }

// atMost limits the tests of a sift.
func atMost(most int) func(tests, refused int) bool {
	return func(tests, _ int) bool { return tests >= most }
}

// sift separates items that nginx refuses from those that pass, until it is enough.
// It adds groups to what passed: so of items that only fail together, the last one is
// refused. A refused group is halved, after a test of the one that nginx named. The group after
// one that passed is twice as large.
//
// test gets what passed and what is added. Errors other than refusals end the search; an
// error that may pass, such as "too many open files", counts if it comes twice.
func sift[T any](items []T, group int, enough func(tests, refused int) bool, test func(all, added []T) error) (s sifted[T], err error) {
	s.rest, s.group = slices.Clone(items), max(group, 1)
	suspect := -1
	for tests, again := 0, false; len(s.rest) > 0 && !enough(tests, len(s.refused)); tests++ {
		s.group = min(s.group, len(s.rest))
		from, to := 0, s.group
		if suspect >= 0 {
			from, to = suspect, suspect+1
		}
		added := s.rest[from:to:to]
		err := test(append(slices.Clip(s.passed), added...), added)
		var named *suspicion
		switch {
		case err == nil && suspect >= 0:
			suspect = -1 // not alone: its turn comes by age
		case err == nil:
			s.passed, s.rest, s.group = append(s.passed, added...), s.rest[s.group:], 2*s.group
		case refusalOf(err) == nil:
			return s, err
		case len(added) > 1:
			s.group = (s.group + 1) / 2
			if errors.As(err, &named) {
				suspect = named.at
			}
		case !again && !ofTheLine.MatchString(refusalOf(err).Text):
			again = true
			continue
		default:
			s.refused, s.rest = append(s.refused, failed[T]{added[0], err}), slices.Delete(s.rest, from, to)
			suspect = -1
		}
		again = false
	}
	return s, nil
}

// refusalOf returns the refusal in an error, nil if nginx was not asked or took the file.
func refusalOf(err error) *nginx.TestError {
	var refused *nginx.TestError
	if errors.As(err, &refused) {
		return refused
	}
	return nil
}

// wordsOf returns nginx's own message.
func wordsOf(err error) string {
	if refused := refusalOf(err); refused != nil {
		return refused.Text
	}
	return err.Error()
}
