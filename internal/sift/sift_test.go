package sift

import (
	"errors"
	"math/bits"
	"slices"
	"testing"

	"sluice/internal/nginx"
	"sluice/internal/render"
)

// refusing is an nginx that refuses some numbers, and two of them only together. It counts.
type refusing struct {
	bad   uint
	first int
	other int
	text  string
	tests int
}

func (n *refusing) test(with []int) (*render.File, error) {
	n.tests++
	together := 0
	for _, i := range with {
		if n.bad>>i&1 == 1 {
			return nil, &nginx.TestError{Text: n.text}
		}
		if i == n.first || i == n.other {
			together++
		}
	}
	if together == 2 {
		return nil, &nginx.TestError{Text: n.text}
	}
	return nil, nil
}

func numbers(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// TestWhoeverIsRefusedIsFound: any of 8 are bad, and any two are refused together only. Whoever is
// good is taken, and nobody who is refused could be added back.
func TestWhoeverIsRefusedIsFound(t *testing.T) {
	t.Parallel()
	const count = 8
	for bad := range uint(1 << count) {
		for first := range count {
			other := (first + 1 + int(bad)%(count-1)) % count
			n := &refusing{bad: bad, first: first, other: other, text: "unknown"}
			r, err := Kind[int]{Test: n.test}.Sift(numbers(count), 1+int(bad)%count)
			if err != nil || len(r.Rest) > 0 || len(r.Taken)+len(r.Refused) != count {
				t.Fatalf("%08b: %+v, %v", bad, r, err)
			}
			tests := n.tests
			if _, err := n.test(r.Taken); err != nil {
				t.Fatalf("%08b: %v are refused together", bad, r.Taken)
			}
			for _, refused := range r.Refused {
				if _, err := n.test(append(slices.Clone(r.Taken), refused.Suspect)); err == nil {
					t.Fatalf("%08b, %d with %d: %d could be added back", bad, first, other, refused.Suspect)
				}
			}
			if most := 4 + 4*(bits.OnesCount(bad)+2); tests > most {
				t.Errorf("%08b, %d with %d: %d tests, at most %d", bad, first, other, tests, most)
			}
		}
	}
}

// TestOfThoseThatFailTogetherTheLastIsRefused: the oldest is first.
func TestOfThoseThatFailTogetherTheLastIsRefused(t *testing.T) {
	t.Parallel()
	n := &refusing{first: 2, other: 5, text: "unknown"}
	if r, _ := (Kind[int]{Test: n.test}).Sift(numbers(8), 8); len(r.Refused) != 1 || r.Refused[0].Suspect != 5 {
		t.Errorf("refused are %v", r.Refused)
	}
}

// TestNobodyIsToBlameIfNginxRefusesTheRest: it is asked once, for the first that is refused.
func TestNobodyIsToBlameIfNginxRefusesTheRest(t *testing.T) {
	t.Parallel()
	for _, rest := range []error{nil, &nginx.TestError{Text: "all is refused"}, errors.New("out of memory")} {
		n, asked := &refusing{bad: 0b11, first: -1, other: -1, text: "unknown"}, []int{}
		k := Kind[int]{Test: n.test, Without: func(refused int) error {
			asked = append(asked, refused)
			return rest
		}}
		r, err := k.Sift(numbers(4), 4)
		if !errors.Is(err, rest) || !slices.Equal(asked, []int{0}) || (len(r.Refused) == 2) != (rest == nil) {
			t.Errorf("%v: asked for %v, refused are %v", rest, asked, r.Refused)
		}
	}
}

// TestErrorsOfTheMachineCountTwice: one that may pass decides only if it comes again, and a test
// that could not run decides nothing.
func TestErrorsOfTheMachineCountTwice(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"unknown directive": 1, "open() failed (24: Too many open files)": 2} {
		n := &refusing{bad: 1, first: -1, other: -1, text: text}
		if r, _ := (Kind[int]{Test: n.test}).Sift(numbers(1), 1); n.tests != want || len(r.Refused) != 1 {
			t.Errorf("%s: refused after %d tests", text, n.tests)
		}
	}
	broken := errors.New("no memory")
	r, err := Kind[int]{Test: func([]int) (*render.File, error) { return nil, broken }}.Sift(numbers(3), 2)
	if !errors.Is(err, broken) || len(r.Rest) != 3 {
		t.Errorf("%v, with %v left", err, r.Rest)
	}
}

// TestEnough: a search ends early, and tells how it would go on.
func TestEnough(t *testing.T) {
	t.Parallel()
	n := &refusing{bad: 0b1000, first: -1, other: -1, text: "unknown"}
	k := Kind[int]{Test: n.test, Enough: func(tests, _ int) bool { return tests == 2 }}
	if r, err := k.Sift(numbers(8), 4); err != nil || !slices.Equal(r.Taken, []int{0, 1}) || len(r.Rest) != 6 || r.Group != 4 {
		t.Errorf("%+v, %v", r, err)
	}
}
