package quarantine

import (
	"fmt"
	"testing"
	"time"

	"sluice/internal/model"
)

// form is the form of a subject in tests: a text. Equal texts are the same form, even
// at different pointers, like objects that were decoded twice.
func form(text string) Form { return &text }

func said(f Form) string {
	if f == nil {
		return ""
	}
	return *f.(*string)
}

func never(_, _ Form) bool { return false }

func always(_, _ Form) bool { return true }

func all(Form) bool { return true }

var (
	web    = Of(model.ObjectRef{Kind: "HTTPRoute", Namespace: "shop", Name: "web"})
	other  = Of(model.ObjectRef{Kind: "Ingress", Namespace: "shop", Name: "other"})
	secret = Of(model.ObjectRef{Kind: "Secret", Namespace: "shop", Name: "ca"})
)

// world holds the current forms of all subjects.
type world map[Subject]string

func (w world) look(s Subject) Form {
	if said, ok := w[s]; ok {
		return form(said)
	}
	return nil
}

// clock is a clock that tests set.
type clock struct{ time.Time }

func (c *clock) now() time.Time { return c.Time }

func at(protects func(refused, good Form) bool) (*Quarantine, *clock) {
	c := &clock{time.Unix(1e9, 0)}
	return New(Judge{func(a, b Form) bool { return said(a) == said(b) }, protects}, c.now), c
}

// refuse rejects a form in a new plan.
func (q *Quarantine) refuse(f Finding) bool {
	f.Apart = true
	return q.Refuse(q.Turn(), f)
}

func TestTheLastGoodFormIsServed(t *testing.T) {
	t.Parallel()
	q, _ := at(never)
	if !q.refuse(Finding{Subject: web, Refused: form("bad"), Good: form("good")}) || said(q.Of(web).Form()) != "good" || q.Of(other) != nil {
		t.Fatalf("served is %v", q.Of(web))
	}
	if !q.refuse(Finding{Subject: web, Refused: form("bad")}) || q.Of(web).Form() != nil {
		t.Errorf("the last good form is served, which is refused too")
	}
	if q.refuse(Finding{Subject: web, Refused: form("bad")}) {
		t.Error("a form that is left out already changed something")
	}
}

func TestAFormThatWasGoodIsRefusedByItself(t *testing.T) {
	t.Parallel()
	q, _ := at(never)
	q.refuse(Finding{Subject: web, Refused: form("same"), Good: form("same")})
	if q.Of(web).Form() != nil {
		t.Error("what nginx refuses is served as the last good form")
	}
	q.refuse(Finding{Subject: other, Refused: form("same"), Good: form("same"), Verdict: Verdict{Undecided: true}})
	if said(q.Of(other).Form()) != "same" {
		t.Error("nobody tested the form that is good, and it is not served")
	}
}

// TestAnEarlierPlanChangesNothing: a plan from before a form went to quarantine is
// rejected for the same form. That says nothing about the last good form, which is
// still served.
func TestAnEarlierPlanChangesNothing(t *testing.T) {
	t.Parallel()
	q, _ := at(never)
	before := q.Turn()
	found := Finding{Subject: web, Refused: form("bad"), Good: form("good"), Apart: true}
	if !q.Refuse(before, found) {
		t.Fatal("nothing changed")
	}
	if q.Refuse(before, found) || said(q.Of(web).Form()) != "good" {
		t.Error("the same news changed something")
	}
}

func TestAnEditEndsARefusal(t *testing.T) {
	t.Parallel()
	q, _ := at(never)
	q.refuse(Finding{Subject: web, Refused: form("bad")})
	if q.Release(all, world{web: "bad"}.look) || q.Empty() {
		t.Error("the same content, decoded anew, ended it")
	}
	if !q.Release(all, world{web: "mended"}.look) || !q.Empty() {
		t.Error("an edit did not end it")
	}
	q.refuse(Finding{Subject: web, Refused: form("bad")})
	if q.Release(func(Form) bool { return false }, world{}.look) || !q.Release(all, world{}.look) {
		t.Error("it does not end with its object alone")
	}
}

// TestARefusalDoesNotOutliveItsCause: when its basis changes, the subject is tested
// separately, or is served again if that is not possible.
func TestARefusalDoesNotOutliveItsCause(t *testing.T) {
	t.Parallel()
	for _, apart := range []bool{true, false} {
		for name, now := range map[string]world{
			"nothing": {web: "bad", secret: "x"}, "its content": {web: "bad", secret: "y"}, "whether it is there": {web: "bad"},
		} {
			q, _ := at(never)
			q.Refuse(0, Finding{Subject: web, Refused: form("bad"), Apart: apart, Basis: Look(world{secret: "x"}.look).Basis(secret)})
			released, changed := q.Release(all, now.look), name != "nothing"
			if released != (changed && !apart) {
				t.Errorf("of the Secret changed %s: served again: %v", name, released)
			}
			if r := q.Of(web); apart && (r == nil || r.Waits != changed) {
				t.Errorf("of the Secret changed %s: %v", name, r)
			}
			if q.Release(all, now.look); apart && q.Of(web) == nil {
				t.Error("a second look ended it")
			}
		}
	}
}

// TestACauseThatProtectsCloses: with the changed basis, the form would protect.
func TestACauseThatProtectsCloses(t *testing.T) {
	t.Parallel()
	protects := false
	q, _ := at(func(_, _ Form) bool { return protects })
	q.refuse(Finding{Subject: web, Refused: form("bad"), Good: form("good"), Basis: Look(world{}.look).Basis(secret)})
	protects = true
	q.Release(all, world{web: "bad", secret: "x"}.look)
	if r := q.Of(web); r.Stand != AsClosed || !r.Waits {
		t.Errorf("served is %v", r)
	}
}

// TestClosedFormsStayClosed: a rejected form that protects is replaced by the next
// stand. The last one stays, because its paths would be open without it.
func TestClosedFormsStayClosed(t *testing.T) {
	t.Parallel()
	q, _ := at(always)
	for i, step := range []struct {
		undecided, changes bool
		stand              Stand
	}{
		{true, true, AsClosed}, {true, false, AsClosed}, {false, true, AsBeginnings}, {false, false, AsBeginnings}, {true, false, AsBeginnings},
	} {
		changed := q.refuse(Finding{Subject: web, Refused: form("bad"), Good: form("good"), Verdict: Verdict{Undecided: step.undecided}})
		if r := q.Of(web); changed != step.changes || r.Stand != step.stand || said(r.Form()) != "bad" {
			t.Errorf("step %d: changed %v, served %v as %v", i, changed, said(r.Form()), r.Stand)
		}
	}
}

// TestNewFormsOfAStruckNamespaceWait in their last good form. Other namespaces do not
// wait, nor do forms that passed a test.
func TestNewFormsOfAStruckNamespaceWait(t *testing.T) {
	t.Parallel()
	q, clock := at(never)
	q.refuse(Finding{Subject: other, Refused: form("bad")})
	if _, struck := q.Struck()["shop"]; !struck {
		t.Fatal("a refusal strikes nobody")
	}
	fresh := Finding{Subject: web, Refused: form("new"), Good: form("old"), Apart: true}
	q.Hold(Finding{Subject: web, Refused: form("same"), Good: form("same"), Apart: true})
	if q.Of(web) != nil {
		t.Error("a form is held that is good")
	}
	if q.Hold(fresh); !q.Of(web).Waits || said(q.Of(web).Form()) != "old" {
		t.Errorf("held is %v", q.Of(web))
	}
	if q.Settle(q.Next("", 9), nil) != 1 || q.Of(web) != nil || q.Passed()[web] != fresh.Refused {
		t.Error("it did not pass")
	}
	if q.Hold(fresh); q.Of(web) != nil {
		t.Error("what passed its test is held again")
	}
	clock.Time = clock.Add(2 * probation)
	if len(q.Struck()) > 0 {
		t.Error("the probation has no end")
	}
}

// TestARetryStrikesNobody: nginx rejects a form again in a retry, without any change.
// The first test of a waiting form does strike its namespace.
func TestARetryStrikesNobody(t *testing.T) {
	t.Parallel()
	for _, waits := range []bool{false, true} {
		q, clock := at(never)
		q.refuse(Finding{Subject: web, Refused: form("bad"), Verdict: Verdict{Undecided: waits}})
		clock.Time = clock.Add(2 * probation)
		q.Struck()
		q.Settle(q.Next("", 1), map[Subject]Verdict{web: {Text: "refused"}})
		if struck := len(q.Struck()) > 0; struck != waits {
			t.Errorf("it waited: %v; the namespace is struck: %v", waits, struck)
		}
	}
}

// TestARetryThatPassesByItselfStrikesNobody if nginx then rejects it in the file,
// together with others.
func TestARetryThatPassesByItselfStrikesNobody(t *testing.T) {
	t.Parallel()
	q, clock := at(never)
	q.refuse(Finding{Subject: web, Refused: form("bad")})
	clock.Time = clock.Add(2 * probation)
	q.Settle(q.Next("", 1), nil)
	if !q.refuse(Finding{Subject: web, Refused: form("bad")}) || len(q.Struck()) > 0 {
		t.Error("a retry strikes the namespace")
	}
}

// TestRetriesComeLaterAndLater, or never if only a change can fix the form.
func TestRetriesComeLaterAndLater(t *testing.T) {
	t.Parallel()
	final, _ := at(never)
	if final.refuse(Finding{Subject: web, Refused: form("bad"), Verdict: Verdict{Final: true}}); !final.Due().IsZero() {
		t.Error("what cannot pass is tested again")
	}
	q, clock := at(never)
	q.refuse(Finding{Subject: web, Refused: form("bad")})
	want := firstRetry
	for range 9 {
		if due := q.Due().Sub(clock.Time); due != want {
			t.Fatalf("it is tested again after %v, want %v", due, want)
		}
		if len(q.Next("", 1)) > 0 {
			t.Fatal("it is tested before it is due")
		}
		clock.Time = q.Due().Add(1)
		tested := q.Next("", 1)
		if q.Settle(tested, map[Subject]Verdict{web: {Undecided: true}}) != 0 || q.Due().Sub(clock.Time) != firstRetry {
			t.Fatal("a test that could not be is a verdict, or repeated at once")
		}
		q.Settle(tested, map[Subject]Verdict{web: {Text: "refused"}})
		want = min(2*want, longestRetry)
	}
}

// TestEachNamespaceHasItsTurn, and a subject that changed during its test is tested
// again.
func TestEachNamespaceHasItsTurn(t *testing.T) {
	t.Parallel()
	q, _ := at(never)
	for i := range 9 {
		s := Of(model.ObjectRef{Namespace: fmt.Sprint("n", i%3), Name: fmt.Sprint("web-", i)})
		q.refuse(Finding{Subject: s, Refused: form("new"), Verdict: Verdict{Undecided: true}})
	}
	last := ""
	for _, want := range []string{"n0", "n1", "n2", "n0"} {
		next := q.Next(last, 2)
		if len(next) != 2 || next[0].Subject.Namespace != want || next[1].Subject.Namespace != want || next[0].Subject.Name > next[1].Subject.Name {
			t.Fatalf("next are %v, want two of %s", next, want)
		}
		last = want
	}
	tested := q.Next("", 2)
	q.Release(func(Form) bool { return true }, func(s Subject) Form {
		if s == tested[0].Subject {
			return form("newer")
		}
		return form("new")
	})
	if q.Settle(tested, nil) != 1 || q.Of(tested[1].Subject) != nil {
		t.Error("a test of a form that is gone decided something")
	}
	q.refuse(Finding{Subject: web, Refused: form("bad"), Basis: Look(world{}.look).Basis(secret), Verdict: Verdict{Undecided: true}})
	tested = q.Next("n9", 1)
	q.Release(all, world{web: "bad", secret: "new"}.look)
	if len(tested) != 1 || q.Settle(tested, nil) != 0 || q.Of(web) == nil {
		t.Error("a test with what is gone decided something")
	}
}

// TestUndecidedFormsStarveNobody: a form that no test decides comes after others of its
// namespace, at growing intervals. Due retries of other namespaces run meanwhile.
func TestUndecidedFormsStarveNobody(t *testing.T) {
	t.Parallel()
	q, clock := at(never)
	of := func(namespace, name string) Subject {
		return Of(model.ObjectRef{Kind: "Ingress", Namespace: namespace, Name: name})
	}
	slow, sibling, retry := of("a", "a-slow"), of("a", "b-good"), of("b", "retry")
	q.refuse(Finding{Subject: retry, Refused: form("bad")})
	q.refuse(Finding{Subject: slow, Refused: form("new"), Verdict: Verdict{Undecided: true}})
	q.refuse(Finding{Subject: sibling, Refused: form("new"), Verdict: Verdict{Undecided: true}})
	tested, last := map[Subject]int{}, ""
	for range 200 {
		clock.Time = clock.Add(4 * time.Second)
		next := q.Next(last, 1)
		for _, r := range next {
			tested[r.Subject]++
			last = r.Subject.Namespace
		}
		q.Settle(next, map[Subject]Verdict{slow: {Undecided: true}, retry: {Text: "refused"}})
	}
	if tested[sibling] != 1 || tested[retry] != 4 || tested[slow] < 10 || tested[slow] > 20 {
		t.Errorf("tested %v", tested)
	}
}

// TestFewerAreTestedTogether after a test that decided none of them, even if a test of
// another namespace decided something meanwhile.
func TestFewerAreTestedTogether(t *testing.T) {
	t.Parallel()
	q, clock := at(never)
	verdicts := map[Subject]Verdict{}
	for i := range 64 {
		s := Of(model.ObjectRef{Namespace: "a", Name: fmt.Sprintf("web-%02d", i)})
		verdicts[s] = Verdict{Undecided: true}
		q.refuse(Finding{Subject: s, Refused: form("new"), Verdict: verdicts[s]})
	}
	for _, want := range []int{64, 16, 16, 16, 16, 4} {
		q.refuse(Finding{Subject: other, Refused: form("new"), Verdict: Verdict{Undecided: true}})
		q.Settle(q.Next("b", 64), nil)
		next := q.Next("", 64)
		if len(next) != want {
			t.Fatalf("%d are tested together, want %d", len(next), want)
		}
		q.Settle(next, verdicts)
		clock.Time = clock.Add(firstWait)
	}
}
