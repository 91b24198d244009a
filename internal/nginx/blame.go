package nginx

import "fmt"

// Verdict is the result of Blame. Every item is in exactly one of the three lists.
type Verdict[T any] struct {
	// Culprits failed the test, in the order of the items.
	Culprits []Culprit[T]
	// Passing passed the test, all of them together.
	Passing []T
	// Undecided were not reached before the tests were used up. They were not tested
	// together with Passing, so leave them out as well.
	Undecided []T
}

// Culprit is an item that fails, with the error of that test.
type Culprit[T any] struct {
	Item T
	Err  error
}

// Blame finds the items that make a test fail. An item is a culprit if the test fails
// with it and all accepted items before it. So of items that only fail together, the
// last one is blamed: put the oldest first. With k culprits among n items it needs at
// most 2 + k * (2 + log2 n) tests, and never more than most.
//
// It returns an error only if the test fails without any item.
func Blame[T any](items []T, test func([]T) error, most int) (Verdict[T], error) {
	b := &blamer[T]{test: test, most: most}
	err, ok := b.try(nil, items)
	if !ok {
		return Verdict[T]{Undecided: items}, nil
	}
	if err == nil {
		return Verdict[T]{Passing: items}, nil
	}
	if empty, ok := b.try(nil, nil); ok && empty != nil {
		return Verdict[T]{Undecided: items}, fmt.Errorf("refused even without any of the %d changed objects: %w", len(items), empty)
	}
	return b.search(items, err), nil
}

type blamer[T any] struct {
	test  func([]T) error
	most  int
	tests int
}

// try tests two lists together. It returns false if no test is left.
func (b *blamer[T]) try(accepted, more []T) (error, bool) {
	if b.tests >= b.most {
		return nil, false
	}
	b.tests++
	return b.test(append(accepted[:len(accepted):len(accepted)], more...)), true
}

// search finds the culprits in items, which fail together with err.
func (b *blamer[T]) search(items []T, err error) Verdict[T] {
	var v Verdict[T]
	for len(items) > 0 {
		passing, failing, cause := b.bisect(v.Passing, items, err)
		v.Passing = append(v.Passing, items[:passing]...)
		if failing > passing+1 {
			v.Undecided = items[passing:]
			break
		}
		v.Culprits = append(v.Culprits, Culprit[T]{Item: items[passing], Err: cause})
		items = items[failing:]
		if len(items) == 0 {
			break
		}
		var ok bool
		if err, ok = b.try(v.Passing, items); !ok {
			v.Undecided = items
			break
		}
		if err == nil {
			v.Passing = append(v.Passing, items...)
			break
		}
	}
	return v
}

// bisect finds the shortest prefix that fails together with the accepted items:
// items[:passing] passes and items[:failing] fails with cause. The two differ by one
// unless the tests were used up.
func (b *blamer[T]) bisect(accepted, items []T, err error) (passing, failing int, cause error) {
	failing, cause = len(items), err
	for failing > passing+1 {
		middle := (passing + failing) / 2
		result, ok := b.try(accepted, items[:middle])
		switch {
		case !ok:
			return passing, failing, cause
		case result == nil:
			passing = middle
		default:
			failing, cause = middle, result
		}
	}
	return passing, failing, cause
}
