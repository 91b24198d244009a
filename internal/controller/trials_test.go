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
	"sluice/internal/render"
	"sluice/internal/snapshot"
)

// wordless refuses the locations of some Ingresses and names no line. It knows
// what it tests from the last rendering.
type wordless struct {
	bad   map[model.ObjectRef]bool
	last  model.Static
	tests int
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

func (w *wordless) render(s model.Static) *render.File { w.last = s; return &render.File{} }

// TestUndecidedAreNotBlamed: 90 Ingresses of a namespace of which every third is
// refused without a line, beside one of another namespace. The search is short, the
// neighbour is not in it, and nobody is blamed before a test of its own.
func TestUndecidedAreNotBlamed(t *testing.T) {
	t.Parallel()
	w := &wordless{bad: map[model.ObjectRef]bool{}}
	all, owners := servers(90)
	for i, o := range owners {
		w.bad[o] = i%3 == 0
	}
	neighbour := model.ObjectRef{Kind: "Ingress", Namespace: "neighbour", Name: "web"}
	all = append(all, &model.Server{Host: "neighbour.example", Locations: []*model.Location{{Rule: model.Rule{Object: neighbour}}}})
	b := &blame{ctx: t.Context(), process: w, render: w.render, until: time.Now().Add(searchTime),
		oldest: func() []model.ObjectRef { return append(owners, neighbour) }}
	b.find(model.Static{Servers: all}, all)
	if len(b.culprits) != 90 || w.tests > 12 || len(b.settings) > 0 || b.stuck {
		t.Errorf("%d found by %d tests, want the 90 of the namespace by a few", len(b.culprits), w.tests)
	}
	for _, c := range b.culprits {
		if c.object == neighbour || !c.undecided {
			t.Errorf("blamed is %v, decided: %v", c.object, !c.undecided)
		}
	}
}

// TestTrialsDecideOnAllThatWait: round after round, those that nginx refuses stay
// in quarantine, and the others are cleared.
func TestTrialsDecideOnAllThatWait(t *testing.T) {
	t.Parallel()
	w := &wordless{bad: map[model.ObjectRef]bool{}}
	q := newQuarantine(never)
	all, owners := servers(90)
	for i, o := range owners {
		w.bad[o] = i%3 == 0
		ing := form(o.Name, fmt.Sprint(i))
		q.entries[nameOf(o)] = &refusal{refused: ing, waits: true, stand: asNone}
	}
	trials := newTrials(w)
	for round := 0; ; round++ {
		_, waiting := trials.pick(q)
		if len(waiting) == 0 {
			break
		}
		if round > 20 {
			t.Fatalf("%d still wait after %d rounds", len(waiting), round)
		}
		next := &trial{entries: map[snapshot.Name]*refusal{}, static: model.Static{Servers: all}, render: w.render, oldest: func() []model.ObjectRef { return owners }}
		next.static = only(next.static, refs(waiting))
		for _, name := range waiting {
			entry := *q.entries[name]
			next.entries[name] = &entry
		}
		next.test(t.Context(), w)
		q.settle(next)
	}
	for i, o := range owners {
		if refused := q.entries[nameOf(o)] != nil; refused != (i%3 == 0) {
			t.Errorf("%v is refused: %v", o, refused)
		}
	}
}

func refs(names []snapshot.Name) []model.ObjectRef {
	var all []model.ObjectRef
	for _, name := range names {
		all = append(all, refOf(name))
	}
	return all
}

// TestChangesOfAStruckNamespaceWait: what is new of a namespace of which nginx
// refused something waits for a test of its own, in its last good form. Others do
// not, nor what was there before.
func TestChangesOfAStruckNamespaceWait(t *testing.T) {
	t.Parallel()
	q := newQuarantine(never)
	q.struck["shop"] = time.Now()
	elsewhere := form("web", "new")
	elsewhere.Namespace = "elsewhere"
	before := snap(t, form("web", "old"), form("same", "same"))
	p := &plan{snap: snap(t, form("web", "new"), form("same", "same"), elsewhere)}
	q.hold(p, before, map[snapshot.Name]*networkingv1.Ingress{web: form("web", "old")})
	if len(q.entries) != 1 || !q.entries[web].waits || q.entries[web].stand != asGood {
		t.Errorf("held are %v, want %v alone, in its last good form", q.entries, web)
	}
	q.clear(web)
	q.hold(p, before, nil)
	if len(q.entries) != 0 {
		t.Error("what passed its test is held again")
	}
	q.struck["shop"] = time.Now().Add(-2 * probation)
	q.cleared = nil
	q.hold(p, before, nil)
	if len(q.entries) != 0 {
		t.Error("the probation has no end")
	}
}

// TestARetryStrikesNobody: nginx refuses a form again that is tested again by itself.
// Nobody has changed anything, so what is new in that namespace is not held for it. A
// form that waits for its first test is another matter.
func TestARetryStrikesNobody(t *testing.T) {
	t.Parallel()
	for _, waits := range []bool{false, true} {
		q := newQuarantine(never)
		bad := form("web", "bad")
		q.entries[web] = &refusal{refused: bad, waits: waits, stand: asNone, retry: time.Now().Add(-time.Second)}
		again := *q.entries[web]
		q.settle(&trial{entries: map[snapshot.Name]*refusal{web: &again}, culprits: map[model.ObjectRef]culprit{refOf(web): {object: refOf(web), text: "refused"}}})
		fresh := snapshot.Name{Namespace: "shop", Name: "fresh"}
		q.hold(&plan{snap: snap(t, bad, form("fresh", "fresh"))}, snap(t, bad), nil)
		if held := q.entries[fresh] != nil; held != waits {
			t.Errorf("the refused form waited: %v; a fresh one is held: %v", waits, held)
		}
	}
}

// TestARetryThatPassesByItselfStrikesNobody if nginx then refuses it in the file, with
// what others say.
func TestARetryThatPassesByItselfStrikesNobody(t *testing.T) {
	t.Parallel()
	q := newQuarantine(never)
	now := snap(t, form("web", "bad"))
	refuse := func() {
		q.add(&plan{snap: now, served: now}, culprit{object: refOf(web), text: "refused with others"}, nil)
	}
	if refuse(); q.struck["shop"].IsZero() {
		t.Error("the first refusal strikes nobody")
	}
	delete(q.struck, "shop")
	q.clear(web)
	if refuse(); !q.struck["shop"].IsZero() || q.entries[web] == nil {
		t.Error("a retry strikes the namespace")
	}
}

// TestNotReadyWhileAllWait: nothing of the cluster is served, as nobody knows yet
// what nginx takes. One that is served is enough, and so is a verdict.
func TestNotReadyWhileAllWait(t *testing.T) {
	t.Parallel()
	source := &objects{}
	source.Ingresses = []*networkingv1.Ingress{form("web", "a.example")}
	c := idle(t, source)
	c.ready.Store(true)
	entry := &refusal{refused: source.Ingresses[0], waits: true, stand: asNone}
	c.quarantine.entries[web] = entry
	p := &plan{}
	if c.noteIdleness(p); c.Ready() == nil {
		t.Error("ready, though all wait")
	}
	p.accepted = source.Ingresses
	if c.noteIdleness(p); c.Ready() != nil {
		t.Error("not ready, though something is served")
	}
	p.accepted, entry.waits = nil, false
	if c.noteIdleness(p); c.Ready() != nil {
		t.Error("not ready, though all is decided")
	}
}
