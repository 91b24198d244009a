package model

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func joinable(object, text string) []Problem {
	return []Problem{{Object: ObjectRef{Kind: "Ingress", Name: object}, Reason: Unread, Text: text}}
}

// TestUnchangedProblemsAreTheSameList: the list is the same while no part changes, and
// another after any change.
func TestUnchangedProblemsAreTheSameList(t *testing.T) {
	t.Parallel()
	var j Joined
	kept := joinable("b", "text")
	first := j.Join(1, kept, joinable("a", "text"), nil)
	if diff := cmp.Diff(SortProblems(append(joinable("b", "text"), joinable("a", "text")...)), first); diff != "" {
		t.Errorf("joined (-want +got):\n%s", diff)
	}
	if again := j.Join(1, kept, joinable("a", "text"), nil); !SameProblems(first, again) {
		t.Error("the same parts are another list")
	}
	for name, other := range map[string]func(*Joined) []Problem{
		"another text":    func(j *Joined) []Problem { return j.Join(1, kept, joinable("a", "other"), nil) },
		"a part less":     func(j *Joined) []Problem { return j.Join(1, kept) },
		"a part more":     func(j *Joined) []Problem { return j.Join(1, kept, joinable("a", "text"), nil, kept) },
		"another of what": func(j *Joined) []Problem { return j.Join(2, kept, joinable("a", "text"), nil) },
	} {
		one := j
		if SameProblems(first, other(&one)) {
			t.Errorf("%s: the same list", name)
		}
	}
	_ = append(j.Join(1, kept), Problem{})
	if len(j.Join(1, kept)) != 1 {
		t.Error("who appends to the list changes it")
	}
}

// TestJoinedIsWhatSortingGives: the list is that of all parts sorted again, whatever
// changes between calls and repeats.
func TestJoinedIsWhatSortingGives(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 5))
	fresh := func() []Problem {
		var part []Problem
		for range random.IntN(4) {
			part = append(part, Problem{Object: ObjectRef{Kind: "Ingress", Name: fmt.Sprint(random.IntN(9))}, Reason: Unread, Text: fmt.Sprint("line\n", random.IntN(5)), Denies: random.IntN(4) == 0})
		}
		return part
	}
	var j, outer Joined
	var parts [][]Problem
	for step := range 2000 {
		before := slices.Clone(j.all)
		given := j.all
		switch at := random.IntN(len(parts) + 1); {
		case random.IntN(60) == 0:
			parts = nil
		case at == len(parts) || random.IntN(3) == 0:
			parts = slices.Insert(slices.Clone(parts), at, fresh())
		case random.IntN(4) == 0:
			parts = slices.Insert(slices.Clone(parts), at, parts[random.IntN(len(parts))])
		case random.IntN(3) == 0:
			parts = slices.Delete(slices.Clone(parts), at, at+1)
		default:
			parts = slices.Clone(parts)
			parts[at] = fresh()
		}
		want := SortProblems(slices.Concat(parts...))
		got := j.Join(nil, parts...)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("step %d (-want +got):\n%s", step, diff)
		}
		more := fresh()
		both := outer.Join(step/3, got, more)
		if diff := cmp.Diff(SortProblems(slices.Concat(got, more)), both, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("step %d, joined again (-want +got):\n%s", step, diff)
		}
		if !slices.Equal(before, given) {
			t.Fatalf("step %d: the list of the step before changed", step)
		}
	}
}

// BenchmarkOneObjectsProblems changes the Problems of one object of 10,000.
func BenchmarkOneObjectsProblems(b *testing.B) {
	parts := problemsOf(10_000)
	other := []Problem{{Object: ObjectRef{"Ingress", "shop", "web-77"}, Field: "key-7", Reason: Unread, Text: "another"}}
	var j, outer Joined
	b.ReportAllocs()
	for b.Loop() {
		parts[5_000], other = other, parts[5_000]
		outer.Join(nil, j.Join(nil, parts...), nil)
	}
}

func BenchmarkUnchangedProblems(b *testing.B) {
	parts := problemsOf(10_000)
	var j Joined
	j.Join(nil, parts...)
	for b.Loop() {
		j.Join(nil, parts...)
	}
}

// problemsOf returns three Problems of each of n objects.
func problemsOf(n int) (parts [][]Problem) {
	for i := range n {
		var of []Problem
		for k := range 3 {
			of = append(of, Problem{Object: ObjectRef{"Ingress", "shop", fmt.Sprint("web-", i)}, Field: fmt.Sprint("key-", k), Reason: Unread, Text: "no annotation of that name is read"})
		}
		parts = append(parts, of)
	}
	return parts
}
