package controller

import (
	"context"
	"io"
	"time"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/nginx"
	"sluice/internal/quarantine"
	"sluice/internal/render"
	"sluice/internal/translate"
)

// trials tests the Ingresses that wait in quarantine, apart from the served file and in
// the background: some of one namespace at a time, then those of the next.
type trials struct {
	process tester
	// due passes trials to run, and ended returns them. A nil from ended means that
	// some are due again.
	due, ended chan *trial
	// again fires when the next ones are due.
	again *time.Timer
	// busy is set from begin until the result of the trial was handled. last is the
	// namespace of the last trial.
	busy bool
	last string
}

// trial is one test of waiting Ingresses, all of one namespace.
type trial struct {
	tested []quarantine.Refusal
	static model.Static
	render func(model.Static) *render.File
	oldest func() []model.ObjectRef

	verdicts map[quarantine.Subject]quarantine.Verdict
	// untested is set if the result says nothing, because nginx could not be run.
	untested bool
}

// mostTogether is the maximum number of Ingresses in one trial.
const mostTogether = 64

// trialTime limits one trial.
const trialTime = 2 * time.Second

// aside is a tester that gives way to other tests and reloads.
type aside struct{ *nginx.Process }

// Test runs `nginx -t` when nothing else needs it.
func (a aside) Test(ctx context.Context, conf io.WriterTo) error { return a.TestAside(ctx, conf) }

func newTrials(process tester) *trials {
	t := &trials{process: process, due: make(chan *trial, 1), ended: make(chan *trial), again: time.NewTimer(0)}
	t.again.Stop()
	return t
}

// begin starts the next trial, unless one is in progress or none is due. In the last
// case, begin is called again when one is.
func (t *trials) begin(q *quarantine.Quarantine, p *plan) {
	if t.busy {
		return
	}
	tested := q.Next(t.last, mostTogether)
	if len(tested) == 0 {
		if due := q.Due(); !due.IsZero() {
			t.again.Reset(time.Until(due))
		}
		return
	}
	t.busy, t.last = true, tested[0].Subject.Namespace
	var forms []*networkingv1.Ingress
	for _, r := range tested {
		forms = append(forms, r.Refused.(*networkingv1.Ingress))
	}
	snap, options := p.served.OnlyIngresses(forms), p.options
	options.Denied = nil
	config, _ := translate.Config(snap, options, nil)
	next := &trial{tested: tested, static: config.Static, render: p.render, oldest: (&plan{served: snap}).oldest}
	next.static.Streams = nil
	t.due <- next
}

// run runs trials until ctx ends. After each it pauses for as long as that took, so
// that it uses at most half a processor.
func (t *trials) run(ctx context.Context) {
	for {
		var next *trial
		select {
		case next = <-t.due:
		case <-t.again.C:
		case <-ctx.Done():
			return
		}
		pause := time.Duration(0)
		if next != nil {
			began := time.Now()
			next.test(ctx, t.process)
			pause = time.Since(began)
			if next.untested {
				pause = trialTime
			}
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

// end passes a result to the loop. It returns false once ctx has ended.
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
	b.removeCulprits(part(t.static, t.static.Servers))
	b.findStreams(t.static)
	t.untested = b.failed != nil || b.stuck || len(b.settings) > 0
	t.verdicts = map[quarantine.Subject]quarantine.Verdict{}
	for _, c := range b.culprits {
		t.verdicts[c.subject()] = c.verdict()
	}
	if t.untested {
		for _, r := range t.tested {
			t.verdicts[r.Subject] = quarantine.Verdict{Undecided: true}
		}
	}
}

// trialEnded handles the result of a trial: Ingresses that pass are served, and those
// that nginx rejects stay in quarantine.
func (c *Controller) trialEnded(ctx context.Context, t *trial) {
	if t == nil {
		c.trials.begin(c.quarantine, c.latest)
		return
	}
	c.trials.busy = false
	c.retainTrust()
	if c.quarantine.Settle(t.tested, t.verdicts) > 0 {
		c.sync(ctx)
		return
	}
	c.trials.begin(c.quarantine, c.latest)
}
