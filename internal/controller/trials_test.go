package controller

import (
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/nginx"
	"sluice/internal/quarantine"
	"sluice/internal/render"
	"sluice/internal/snapshot"
)

// wordless rejects the locations of some Ingresses and names no line. It takes them
// from the last rendering.
type wordless struct {
	bad   map[model.ObjectRef]bool
	files func() *render.File
	last  model.Static
	tests int
}

func newWordless(t *testing.T, bad ...model.ObjectRef) *wordless {
	t.Helper()
	w := &wordless{bad: map[model.ObjectRef]bool{}, files: distinctFiles(t)}
	for _, o := range bad {
		w.bad[o] = true
	}
	return w
}

func (w *wordless) Test(context.Context, io.WriterTo) error {
	w.tests++
	for _, s := range w.last.Servers {
		for _, l := range s.Locations {
			if w.bad[l.Rule.Object] {
				return &nginx.TestError{Text: `unknown "x" variable`}
			}
		}
	}
	return nil
}

func (w *wordless) render(s model.Static) *render.File { w.last = s; return w.files() }

// TestUndecidedAreNotBlamed: of 90 Ingresses of a namespace, nginx rejects every third
// and names no line; another namespace has one. The search is short and skips the other
// namespace, and nobody is blamed before a separate test.
func TestUndecidedAreNotBlamed(t *testing.T) {
	t.Parallel()
	w := newWordless(t)
	all, owners := servers(90)
	for i, o := range owners {
		w.bad[o] = i%3 == 0
	}
	neighbour := model.ObjectRef{Kind: "Ingress", Namespace: "neighbour", Name: "web"}
	all = append(all, &model.Server{Host: "neighbour.example", Locations: []*model.Location{{Rule: model.Rule{Object: neighbour}}}})
	b := &blame{ctx: t.Context(), process: w, render: w.render, until: time.Now().Add(searchTime),
		oldest: func() []model.ObjectRef { return append(owners, neighbour) }}
	b.find(model.Static{Servers: all}, all, w.files(), &nginx.TestError{Text: `unknown "x" variable`})
	if len(b.culprits) != 90 || w.tests > 12 || len(b.settings) > 0 || b.stuck {
		t.Errorf("%d found by %d tests, want the 90 of the namespace by a few", len(b.culprits), w.tests)
	}
	for _, c := range b.culprits {
		if c.object == neighbour || !c.undecided {
			t.Errorf("blamed is %v, decided: %v", c.object, !c.undecided)
		}
	}
}

// TestTrialsDecideOnAllThatWait: in the end, the Ingresses that nginx rejects are in
// quarantine, and the others are served.
func TestTrialsDecideOnAllThatWait(t *testing.T) {
	t.Parallel()
	w := newWordless(t)
	now := time.Now()
	q := quarantine.New(harmless, func() time.Time { return now })
	all, owners := servers(90)
	for i, o := range owners {
		w.bad[o] = i%3 == 0
		q.Refuse(0, quarantine.Finding{Subject: quarantine.Of(o), Refused: form(o.Name, fmt.Sprint(i)), Apart: true, Verdict: quarantine.Verdict{Undecided: true}})
	}
	for round := 0; ; round++ {
		if q.Waiting() == 0 {
			break
		}
		now = now.Add(time.Second)
		waiting := q.Next("", mostTogether)
		if round > 20 {
			t.Fatalf("%d still wait after %d rounds", len(waiting), round)
		}
		next := &trial{tested: waiting, static: only(model.Static{Servers: all}, refs(waiting)), render: w.render, oldest: func() []model.ObjectRef { return owners }}
		next.test(t.Context(), w)
		q.Settle(next.tested, next.verdicts)
	}
	for i, o := range owners {
		if refused := q.Of(quarantine.Of(o)) != nil; refused != (i%3 == 0) {
			t.Errorf("%v is refused: %v", o, refused)
		}
	}
}

func refs(refusals []quarantine.Refusal) []model.ObjectRef {
	var all []model.ObjectRef
	for _, r := range refusals {
		all = append(all, r.Subject.ObjectRef)
	}
	return all
}

// TestChangesOfAStruckNamespaceWait: after a refusal in a namespace, its new forms wait
// for a separate test, and their last good forms are served. Other namespaces and
// unchanged forms do not wait.
func TestChangesOfAStruckNamespaceWait(t *testing.T) {
	t.Parallel()
	source := &objects{}
	source.Ingresses = []*networkingv1.Ingress{form("web", "old"), form("same", "same"), form("bad", "bad")}
	c := idle(t, source)
	c.sync(t.Context())
	c.applied(t.Context(), outcome{plan: c.submitted()})
	c.quarantined(t, snapshot.Name{Namespace: "shop", Name: "bad"}, "refused")
	c.trials.busy = true // nobody tests
	elsewhere := form("web", "new")
	elsewhere.Namespace = "elsewhere"
	source.Ingresses = []*networkingv1.Ingress{form("web", "new"), form("same", "same"), form("bad", "bad"), elsewhere, form("fresh", "fresh")}
	c.sync(t.Context())
	for name, want := range map[string]bool{"web": true, "same": false, "fresh": true} {
		if r := c.quarantine.Of(quarantine.Of(refOf(snapshot.Name{Namespace: "shop", Name: name}))); (r != nil && r.Waits) != want {
			t.Errorf("%s is held: %v, want %v", name, r != nil, want)
		}
	}
	if got := c.latest.served.Ingress(web).Spec.Rules[0].Host; got != "old" || c.latest.served.Ingress(snapshot.Name{Namespace: "elsewhere", Name: "web"}) == nil {
		t.Errorf("served is %s; held is another namespace's, too", got)
	}
}

// TestNotReadyWhileAllWait: nothing of the cluster is served before the first verdict.
// One served Ingress or one verdict is enough.
func TestNotReadyWhileAllWait(t *testing.T) {
	t.Parallel()
	source := &objects{}
	source.Ingresses = []*networkingv1.Ingress{form("web", "a.example")}
	c := idle(t, source)
	c.trials.busy = true // nobody tests
	c.sync(t.Context())
	c.ready.Store(true)
	c.quarantine.Refuse(0, quarantine.Finding{Subject: quarantine.Of(refOf(web)), Refused: source.Ingresses[0], Apart: true, Verdict: quarantine.Verdict{Undecided: true}})
	p := &plan{}
	if c.noteIdleness(p); c.Ready() == nil {
		t.Error("ready, though all wait")
	}
	p.accepted = source.Ingresses
	if c.noteIdleness(p); c.Ready() != nil {
		t.Error("not ready, though something is served")
	}
	p.accepted, c.quarantine.Of(quarantine.Of(refOf(web))).Waits = nil, false
	if c.noteIdleness(p); c.Ready() != nil {
		t.Error("not ready, though all is decided")
	}
}
