package controller

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/nginx"
	"sluice/internal/render"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// trials test the Ingresses that wait in quarantine, apart from the file that is
// served and beside everything else: one namespace after the other, some at a time.
type trials struct {
	process tester
	// Of ended a nil says that some are due again.
	due, ended chan *trial
	// rest has the time at which the next ones are due again.
	rest chan time.Time
	// busy is set from begin until the trial's end was taken in, last is the
	// namespace of the last one, size how many Ingresses go together.
	busy bool
	last string
	size int
}

// trial is one test of Ingresses that wait, all of one namespace.
type trial struct {
	entries map[snapshot.Name]*refusal
	static  model.Static
	render  func(model.Static) *render.File
	oldest  func() []model.ObjectRef

	culprits map[model.ObjectRef]culprit
	// untested is set if nothing can be told, as nginx could not be asked.
	untested bool
}

// mostTogether is how many Ingresses are tried together.
const mostTogether = 64

// trialTime bounds one trial.
const trialTime = 2 * time.Second

// aside is an nginx that tests while nobody waits.
type aside struct{ *nginx.Process }

// Test gives way to all else.
func (a aside) Test(ctx context.Context, conf io.WriterTo) error { return a.TestAside(ctx, conf) }

func newTrials(process tester) *trials {
	return &trials{process: process, due: make(chan *trial, 1), ended: make(chan *trial), rest: make(chan time.Time, 1), size: mostTogether}
}

// begin starts the next trial, unless one is under way or nobody waits: then those
// come whose refusal may have passed.
func (t *trials) begin(q *quarantine, p *plan) {
	if t.busy {
		return
	}
	namespace, waiting := t.pick(q)
	if len(waiting) == 0 {
		t.sleep(q)
		return
	}
	t.busy, t.last = true, namespace
	next := &trial{entries: map[snapshot.Name]*refusal{}, render: p.render}
	forms := make([]*networkingv1.Ingress, 0, len(waiting))
	for _, name := range waiting {
		entry := *q.entries[name]
		next.entries[name] = &entry
		forms = append(forms, entry.refused)
	}
	snap, options := p.served.OnlyIngresses(forms), p.options
	options.Denied = nil
	config, _ := translate.Config(snap, options, nil)
	next.static = config.Static
	next.static.Streams = nil
	next.oldest = (&plan{served: snap}).oldest
	t.due <- next
}

// sleep has begin called when the next ones are due again.
func (t *trials) sleep(q *quarantine) {
	var next time.Time
	for _, entry := range q.entries {
		if !entry.retry.IsZero() && (next.IsZero() || entry.retry.Before(next)) {
			next = entry.retry
		}
	}
	if next.IsZero() {
		return
	}
	select {
	case <-t.rest:
	default:
	}
	t.rest <- next
}

// pick gives those of a namespace that wait, which is the next after the last one
// by name, so that each has its turn. If nobody waits, it does so of those that are
// due again.
func (t *trials) pick(q *quarantine) (namespace string, waiting []snapshot.Name) {
	var again []snapshot.Name
	now := time.Now()
	for name, entry := range q.entries {
		if entry.waits {
			waiting = append(waiting, name)
		} else if !entry.retry.IsZero() && now.After(entry.retry) {
			again = append(again, name)
		}
	}
	if len(waiting) == 0 {
		waiting = again
	}
	slices.SortFunc(waiting, snapshot.Name.Compare)
	if len(waiting) == 0 {
		return "", nil
	}
	at := slices.IndexFunc(waiting, func(n snapshot.Name) bool { return strings.Compare(n.Namespace, t.last) > 0 })
	namespace = waiting[max(at, 0)].Namespace
	waiting = slices.DeleteFunc(waiting, func(n snapshot.Name) bool { return n.Namespace != namespace })
	return namespace, waiting[:min(len(waiting), t.size)]
}

// run tests until ctx ends. It rests for as long as a trial took, so that it takes
// no more than half a processor.
func (t *trials) run(ctx context.Context) {
	var again <-chan time.Time
	for {
		var next *trial
		select {
		case next = <-t.due:
		case at := <-t.rest:
			again = time.After(time.Until(at))
			continue
		case <-again:
			again = nil
			if !t.end(ctx, nil) {
				return
			}
			continue
		case <-ctx.Done():
			return
		}
		began := time.Now()
		next.test(ctx, t.process)
		pause := time.Since(began)
		if next.untested {
			pause = trialTime
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
		if !t.end(ctx, next) {
			return
		}
	}
}

// end tells the loop; false once ctx has ended.
func (t *trials) end(ctx context.Context, next *trial) bool {
	select {
	case t.ended <- next:
		return true
	case <-ctx.Done():
		return false
	}
}

// test finds the culprits among the Ingresses.
func (t *trial) test(ctx context.Context, process tester) {
	b := &blame{ctx: ctx, process: process, render: t.render, oldest: t.oldest, until: time.Now().Add(trialTime), patient: true}
	b.empty(part(t.static, t.static.Servers))
	b.findStreams(t.static)
	t.untested = b.failed != nil || b.stuck || len(b.settings) > 0
	t.culprits = make(map[model.ObjectRef]culprit, len(b.culprits))
	for _, c := range b.culprits {
		t.culprits[c.object] = c
	}
}

// tried takes in what a trial told: those that pass are served, and those that
// nginx refuses stay in quarantine for it.
func (c *Controller) tried(ctx context.Context, t *trial) {
	if t == nil {
		c.trials.begin(c.quarantine, c.latest)
		return
	}
	c.trials.busy = false
	c.trials.size = mostTogether
	if c.quarantine.settle(t) > 0 {
		c.sync(ctx)
		return
	}
	c.trials.size = max(len(t.entries)/4, 1)
	c.trials.begin(c.quarantine, c.latest)
}

// settle ends the wait of those whom a trial decided on, and counts them. What
// changed meanwhile has to be tested again.
func (q *quarantine) settle(t *trial) (decided int) {
	for name, was := range t.entries {
		entry := q.entries[name]
		if entry == nil || was.waits && !entry.waits || !sameContent(entry.refused, was.refused) || !entry.basis.same(was.basis) {
			continue
		}
		found, culprit := t.culprits[model.ObjectRef{Kind: "Ingress", Namespace: name.Namespace, Name: name.Name}]
		if t.untested || found.undecided {
			if !entry.waits {
				entry.retry = time.Now().Add(firstRetry)
			}
			continue
		}
		decided++
		if culprit {
			q.refused(name, found.text)
		} else {
			q.clear(name)
		}
	}
	return decided
}

// refused ends the wait of an Ingress whose test nginx refused. One that did not wait
// was tested though nobody changed anything, and strikes nobody.
func (q *quarantine) refused(name snapshot.Name, text string) {
	entry := q.entries[name]
	if entry.waits {
		q.struck[name.Namespace] = time.Now()
	}
	entry.waits, entry.text = false, messageOf(text)
	q.retryLater(name, entry)
	if entry.good != nil && sameContent(entry.good, entry.refused) {
		entry.good = nil
		entry.begin(q.protects)
	}
}

// clear ends the wait of an Ingress whose test nginx took.
func (q *quarantine) clear(name snapshot.Name) {
	q.cleared[name] = q.entries[name].refused
	delete(q.entries, name)
}
