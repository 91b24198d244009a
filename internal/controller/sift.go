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

// sift separates items that nginx refuses from those that pass, with at most so many tests.
// It adds groups to what passed: so of items that only fail together, the last one is
// refused. A refused group is halved, and the group after one that passed is twice as large.
//
// test gets what passed and what is added. Errors other than refusals end the search; an
// error that may pass, such as "too many open files", counts if it comes twice.
func sift[T any](items []T, group, most int, test func(all, added []T) error) (s sifted[T], err error) {
	s.rest, s.group = items, max(group, 1)
	for tests, again := 0, false; len(s.rest) > 0 && tests < most; tests++ {
		s.group = min(s.group, len(s.rest))
		added := s.rest[:s.group]
		err := test(append(slices.Clip(s.passed), added...), added)
		switch {
		case err == nil:
			s.passed, s.rest, s.group = append(s.passed, added...), s.rest[s.group:], 2*s.group
		case refusalOf(err) == nil:
			return s, err
		case s.group > 1:
			s.group = (s.group + 1) / 2
		case !again && !ofTheLine.MatchString(refusalOf(err).Text):
			again = true
			continue
		default:
			s.refused, s.rest = append(s.refused, failed[T]{added[0], err}), s.rest[1:]
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
