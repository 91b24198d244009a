package nginx

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// faults rejects a list that contains all items of any of its sets.
type faults [][]int

func (f faults) test(items []int) error {
	for _, set := range f {
		if !slices.ContainsFunc(set, func(i int) bool { return !slices.Contains(items, i) }) {
			return fmt.Errorf("fault %v", set)
		}
	}
	return nil
}

func numbers(n int) []int {
	items := make([]int, n)
	for i := range items {
		items[i] = i
	}
	return items
}

func culprits(v Verdict[int]) []int {
	var items []int
	for _, c := range v.Culprits {
		items = append(items, c.Item)
	}
	return items
}

func TestBlame(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		items  int
		faults faults
		want   []int
	}{
		{"none", 5, nil, nil},
		{"no items", 0, nil, nil},
		{"the only one", 1, faults{{0}}, []int{0}},
		{"the first", 9, faults{{0}}, []int{0}},
		{"the last", 9, faults{{8}}, []int{8}},
		{"several", 9, faults{{2}, {3}, {8}}, []int{2, 3, 8}},
		{"all", 4, faults{{0}, {1}, {2}, {3}}, []int{0, 1, 2, 3}},
		{"two that only fail together: the later one", 9, faults{{2, 6}}, []int{6}},
		{"three that only fail together", 9, faults{{1, 4, 7}}, []int{7}},
		{"one that fails alone frees its partner", 9, faults{{2}, {2, 6}}, []int{2}},
	}
	for _, test := range tests {
		got, err := Blame(numbers(test.items), test.faults.test, 1000)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if diff := cmp.Diff(test.want, culprits(got)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

// For any faults: the passing items pass together, no item is lost, each culprit is one
// (the test fails with it and the accepted items before it), and the number of tests
// stays within its bound.
func TestBlameHolds(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		items := numbers(random.IntN(40))
		var f faults
		for range random.IntN(5) {
			set := random.Perm(max(1, len(items)))[:min(max(1, len(items)), 1+random.IntN(3))]
			f = append(f, set)
		}
		most := 1000
		if random.IntN(3) == 0 {
			most = random.IntN(12)
		}
		tests := 0
		v, err := Blame(items, func(some []int) error { tests++; return f.test(some) }, most)
		if err == nil {
			err = sound(v, items, f)
		}
		k := float64(len(v.Culprits))
		bound := int(2 + k*(2+math.Log2(float64(max(1, len(items))))))
		switch {
		case err != nil:
		case tests > most || most == 1000 && tests > bound:
			err = fmt.Errorf("%d tests, want at most %d and %d", tests, bound, most)
		case most == 1000 && len(v.Undecided) > 0:
			err = errors.New("undecided though there were tests left")
		}
		if err != nil {
			t.Fatalf("%d items, faults %v, at most %d tests: %v: %+v", len(items), f, most, err, v)
		}
	}
}

func sound(v Verdict[int], items []int, f faults) error {
	all := slices.Concat(culprits(v), v.Passing, v.Undecided)
	slices.Sort(all)
	if !slices.Equal(all, items) {
		return errors.New("not every item is in exactly one list")
	}
	if err := f.test(v.Passing); err != nil {
		return fmt.Errorf("the passing ones fail: %w", err)
	}
	for _, c := range v.Culprits {
		before := slices.DeleteFunc(slices.Clone(v.Passing), func(i int) bool { return i > c.Item })
		if f.test(append(before, c.Item)) == nil || c.Err == nil {
			return fmt.Errorf("%d is innocent", c.Item)
		}
	}
	return nil
}

func TestBlameWithoutAnyItem(t *testing.T) {
	t.Parallel()
	tests := 0
	v, err := Blame(numbers(3), func([]int) error { tests++; return errors.New("settings") }, 10)
	if err == nil || tests != 2 || len(v.Culprits) != 0 || err.Error() != "refused even without any of the 3 changed objects: settings" {
		t.Errorf("%+v, %v", v, err)
	}
}
