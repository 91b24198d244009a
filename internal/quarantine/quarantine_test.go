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

// nobody is for namespaces of which none is tested.
func nobody(string) bool { return false }

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
	if q.Settle(due(q, ""), map[Subject]Verdict{web: {Passed: true}}) != 1 || q.Of(web) != nil || q.Passed()[web] != fresh.Refused {
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
		q.Settle(due(q, ""), map[Subject]Verdict{web: {Text: "refused"}})
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
	q.Settle(due(q, ""), map[Subject]Verdict{web: {Passed: true}})
	if !q.refuse(Finding{Subject: web, Refused: form("bad")}) || len(q.Struck()) > 0 {
		t.Error("a retry strikes the namespace")
	}
}

// due returns what is to be tested next, after a namespace.
func due(q *Quarantine, last string) []Refusal {
	_, due := q.Next(last, func(string) bool { return false })
	return due
}

// TestRetriesComeLaterAndLater.
func TestRetriesComeLaterAndLater(t *testing.T) {
	t.Parallel()
	q, clock := at(never)
	q.refuse(Finding{Subject: web, Refused: form("bad")})
	want := firstRetry
	for range 9 {
		if after := q.Due(nobody).Sub(clock.Time); after != want {
			t.Fatalf("it is tested again after %v, want %v", after, want)
		}
		if len(due(q, "")) > 0 {
			t.Fatal("it is tested before it is due")
		}
		clock.Time = q.Due(nobody).Add(1)
		tested := due(q, "")
		if q.Settle(tested, map[Subject]Verdict{web: {Undecided: true}}) != 0 || q.Due(nobody).Sub(clock.Time) != firstRetry {
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
		next := due(q, last)
		if len(next) != 3 || next[0].Subject.Namespace != want || next[1].Subject.Namespace != want {
			t.Fatalf("next are %v, want those of %s", next, want)
		}
		last = want
	}
	if namespace, _ := q.Next("", func(name string) bool { return name == "n0" }); namespace != "n1" {
		t.Errorf("next is %s, though n0 is being tested", namespace)
	}
	tested := due(q, "")[:2]
	q.Release(func(Form) bool { return true }, func(s Subject) Form {
		if s == tested[0].Subject {
			return form("newer")
		}
		return form("new")
	})
	passed := Verdict{Passed: true}
	if q.Settle(tested, map[Subject]Verdict{tested[0].Subject: passed, tested[1].Subject: passed}) != 1 || q.Of(tested[1].Subject) != nil {
		t.Error("a test of a form that is gone decided something")
	}
	q.refuse(Finding{Subject: web, Refused: form("bad"), Basis: Look(world{}.look).Basis(secret), Verdict: Verdict{Undecided: true}})
	tested = due(q, "n9")
	q.Release(all, world{web: "bad", secret: "new"}.look)
	if len(tested) != 1 || q.Settle(tested, map[Subject]Verdict{web: passed}) != 0 || q.Of(web) == nil {
		t.Error("a test with what is gone decided something")
	}
}

// TestWhatWasNotReachedStaysDue: a test ended before it came to a form. One that could not
// run is repeated at growing intervals.
func TestWhatWasNotReachedStaysDue(t *testing.T) {
	t.Parallel()
	q, clock := at(never)
	q.refuse(Finding{Subject: web, Refused: form("new"), Verdict: Verdict{Undecided: true}})
	for range 3 {
		if tested := due(q, ""); len(tested) != 1 || q.Settle(tested, nil) != 0 || !q.Untested() {
			t.Fatalf("due are %v", tested)
		}
	}
	for _, want := range []time.Duration{firstWait, 2 * firstWait, 4 * firstWait} {
		q.Settle(due(q, ""), map[Subject]Verdict{web: {Undecided: true}})
		if wait := q.Due(nobody).Sub(clock.Time); wait != want || q.Untested() {
			t.Errorf("it is tested again after %v, want %v", wait, want)
		}
		clock.Time = q.Due(nobody)
	}
}

// TestPutBackJoinsWithoutATest: nginx refused a form that passed together with others.
func TestPutBackJoinsWithoutATest(t *testing.T) {
	t.Parallel()
	q, _ := at(never)
	fresh := Finding{Subject: web, Refused: form("new"), Good: form("old"), Apart: true}
	q.PutBack(fresh)
	if r := q.Of(web); !r.Waits || !r.Joins || said(r.Form()) != "old" || len(due(q, "")) > 0 {
		t.Fatalf("it is served as %v, and to be tested: %v", said(r.Form()), due(q, ""))
	}
	if !q.Join() || q.Of(web) != nil || q.Passed()[web] != fresh.Refused || q.Join() {
		t.Error("it does not join")
	}
}

// TestUndecidedWithoutRefusingNamespaces: those of a namespace with a refusal do not count.
func TestUndecidedWithoutRefusingNamespaces(t *testing.T) {
	t.Parallel()
	q, _ := at(never)
	q.refuse(Finding{Subject: web, Refused: form("new"), Apart: true, Verdict: Verdict{Undecided: true}})
	elsewhere := Of(model.ObjectRef{Kind: "Ingress", Namespace: "elsewhere", Name: "web"})
	q.refuse(Finding{Subject: elsewhere, Refused: form("new"), Apart: true, Verdict: Verdict{Undecided: true}})
	if got := q.Undecided(); got != 2 {
		t.Errorf("%d are undecided, want 2", got)
	}
	if q.refuse(Finding{Subject: other, Refused: form("bad"), Apart: true}); q.Undecided() != 1 {
		t.Errorf("%d are undecided, want the one of the other namespace", q.Undecided())
	}
}

// TestBusyNamespacesAreNotDue: while a namespace is tested, what else of it is due wakes nobody.
func TestBusyNamespacesAreNotDue(t *testing.T) {
	t.Parallel()
	q, clock := at(never)
	q.refuse(Finding{Subject: web, Refused: form("bad")})
	clock.Time = q.Due(nobody).Add(1)
	if !q.Due(func(namespace string) bool { return namespace == web.Namespace }).IsZero() {
		t.Error("a busy namespace is due")
	}
	if q.Due(nobody).IsZero() {
		t.Error("nothing is due once the test has ended")
	}
}
