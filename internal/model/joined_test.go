package model

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func joinable(object, text string) []Problem {
	return []Problem{{Object: ObjectRef{Kind: "Ingress", Name: object}, Reason: Unread, Text: text}}
}

// TestUnchangedProblemsAreTheSameList: whoever was given it need not look at it
// again. Whatever changes, they have to.
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

func BenchmarkUnchangedProblems(b *testing.B) {
	var parts [][]Problem
	for i := range 10_000 {
		var of []Problem
		for k := range 3 {
			of = append(of, Problem{Object: ObjectRef{"Ingress", "shop", fmt.Sprint("web-", i)}, Field: fmt.Sprint("key-", k), Reason: Unread, Text: "no annotation of that name is read"})
		}
		parts = append(parts, of)
	}
	var j Joined
	j.Join(nil, parts...)
	for b.Loop() {
		j.Join(nil, parts...)
	}
}
