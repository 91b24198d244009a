package assemble

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// next sorts the elements of each call, and does not change the lists of earlier calls.
func TestInOrderSorts(t *testing.T) {
	t.Parallel()
	type element struct {
		number int
		place  place
	}
	random := rand.New(rand.NewPCG(5, 5))
	all := make([]*element, 50)
	for i := range all {
		all[i] = &element{number: i}
	}
	numbers := func(list []*element) (found []int) {
		for _, e := range list {
			found = append(found, e.number)
		}
		return found
	}
	o := inOrder[*element]{compare: func(a, b *element) int { return cmp.Compare(a.number, b.number) }, placeOf: func(e *element) *place { return &e.place }}
	var last []*element
	var was []int
	for call := range uint64(500) {
		found := slices.DeleteFunc(slices.Clone(all), func(*element) bool { return random.IntN(10) == 0 })
		random.Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
		if call%7 == 0 {
			found = found[:random.IntN(3)]
		}
		want := numbers(found)
		slices.Sort(want)
		list := o.next(call+1, found)
		if got := numbers(list); !slices.Equal(got, want) {
			t.Fatalf("call %d: got %v, want %v", call, got, want)
		}
		if !slices.Equal(numbers(last), was) {
			t.Fatalf("call %d changed the list of the call before", call)
		}
		last, was = list, want
	}
}
