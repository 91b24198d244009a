package controller

import (
	"cmp"
	"context"
	"slices"
	"time"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/quarantine"
	"sluice/internal/sift"
	"sluice/internal/snapshot"
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
	// free is the number of trials that may begin. tested are the namespaces of those
	// that began, until their results were handled. last is the one that began last.
	free   int
	tested map[string]bool
	last   string
	// groups is how many Ingresses to test together, of namespaces with some left.
	groups map[string]int
	// decided is set if verdicts are not in a plan yet, since then. They wait joinAfter for
	// others, which join in the same load.
	decided   time.Time
	joinAfter time.Duration
}

// trial tests waiting Ingresses, all of one namespace.
type trial struct {
	namespace string
	tested    []quarantine.Refusal
	plan      *plan
	// runs reports whether nginx runs an object in the same form as in the plan.
	runs func(model.ObjectRef) bool
	// group is how many are tested together first, and at the end how many would be next.
	group    int
	verdicts map[quarantine.Subject]quarantine.Verdict
	// untested is set if nginx could not be run.
	untested bool
	// hidden are Ingresses that nginx runs only as far as one of the tested ones closes their
	// host: without that, it refuses them.
	hidden []model.ObjectRef
}

const (
	// atOnce is the number of trials at the same time.
	atOnce = 2
	// mostTogether is the maximum number of Ingresses in one file.
	mostTogether = 64
	// mostOfATurn is the maximum number of tests before the next namespace has its turn. Its turn
	// also comes after a refusal: then those who wait in a namespace do not keep a pod from
	// becoming ready any more.
	mostOfATurn = 8
	// untestedPause follows a test that could not run.
	untestedPause = 2 * time.Second
)

func newTrials(process tester) *trials {
	t := &trials{process: process, due: make(chan *trial, atOnce), ended: make(chan *trial), again: time.NewTimer(0),
		free: atOnce, tested: map[string]bool{}, groups: map[string]int{}, joinAfter: time.Second}
	t.again.Stop()
	return t
}

// idle reports whether no trial is in progress.
func (t *trials) idle() bool { return len(t.tested) == 0 }

// tryDue tests what is due, once nginx serves the others. Settings and templates that it did
// not take yet would decide nothing about an Ingress.
func (c *Controller) tryDue() {
	p, ran := c.latest, c.lastConfirmed
	if ran == nil {
		return
	}
	is, was := p.configMap, ran.configMap
	same := p.templates == ran.templates && (is == was || is != nil && was != nil && sameSettings(is, was))
	if same || c.target != nil && c.target.confirmed {
		c.trials.begin(c.quarantine, p, p.runsIn(ran))
	}
}

// begin starts trials of what is due, as many as may run. It is called again when more is.
func (t *trials) begin(q *quarantine.Quarantine, p *plan, runs func(model.ObjectRef) bool) {
	busy := func(namespace string) bool { return t.tested[namespace] }
	for t.free > 0 {
		namespace, tested := q.Next(t.last, busy)
		if len(tested) == 0 {
			if t.idle() {
				clear(t.groups) // also of namespaces that are gone
			}
			if due := q.Due(busy); !due.IsZero() {
				t.again.Reset(max(time.Until(due), time.Millisecond))
			}
			return
		}
		slices.SortFunc(tested, oldestFirst)
		if len(tested) > mostTogether {
			tested = tested[:mostTogether]
		}
		t.free--
		t.tested[namespace], t.last = true, namespace
		group := cmp.Or(t.groups[namespace], mostTogether)
		t.due <- &trial{namespace: namespace, tested: tested, plan: p, runs: runs, group: group}
	}
}

// oldestFirst sorts those that wait for their first test before those that are tried again.
func oldestFirst(a, b quarantine.Refusal) int {
	if a.Waits != b.Waits {
		if a.Waits {
			return -1
		}
		return 1
	}
	return snapshot.ByAge(a.Refused.(*networkingv1.Ingress), b.Refused.(*networkingv1.Ingress))
}

// run runs trials until ctx ends.
func (t *trials) run(ctx context.Context) {
	for range atOnce - 1 {
		go t.work(ctx)
	}
	t.work(ctx)
}

// work runs trials, one after the other. After one that only tries again it pauses for as
// long as that took.
func (t *trials) work(ctx context.Context) {
	for {
		var next *trial
		pause := time.Duration(0)
		select {
		case next = <-t.due:
			began := time.Now()
			next.test(ctx, t.process)
			switch {
			case next.untested:
				pause = untestedPause
			case !next.tested[0].Waits:
				pause = time.Since(began)
			}
		case <-t.again.C:
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
		select {
		case t.ended <- next:
		case <-ctx.Done():
			return
		}
	}
}

// test finds out which of the Ingresses nginx refuses, beside those that it runs on their hosts.
func (t *trial) test(ctx context.Context, process tester) {
	s := &search{ctx: ctx, process: process, plan: t.plan, runs: t.runs}
	kind, forms := s.ingresses(true), []*networkingv1.Ingress{}
	for _, r := range t.tested {
		forms = append(forms, r.Refused.(*networkingv1.Ingress))
	}
	kind.Enough = func(tests, refused int) bool { return tests >= mostOfATurn || refused > 0 }
	kind.Without = func(ing *networkingv1.Ingress) error { return t.others(s, ing) }
	tried, err := kind.Sift(forms, t.group)
	t.group, t.untested = tried.Group, err != nil && len(t.hidden) == 0
	t.verdicts = map[quarantine.Subject]quarantine.Verdict{}
	decide := func(ing *networkingv1.Ingress, v quarantine.Verdict) {
		t.verdicts[quarantine.Of(snapshot.RefOf(ing))] = v
	}
	for _, ing := range tried.Taken {
		decide(ing, quarantine.Verdict{Passed: true})
	}
	for _, refused := range tried.Refused {
		decide(refused.Suspect, quarantine.Verdict{Text: messageOf(refused.Text)})
	}
	for _, ing := range tried.Rest {
		if t.untested {
			decide(ing, quarantine.Verdict{Undecided: true})
		}
	}
}

// others tests, without a refused Ingress that closes its paths, what nginx runs on its hosts.
// An untested one with client certificates, for example, closes its host whole, so that nothing
// of the others is in the file that nginx runs. If nginx refuses them, they are hidden.
func (t *trial) others(s *search, refused *networkingv1.Ingress) error {
	if !slices.ContainsFunc(t.tested, func(r quarantine.Refusal) bool { return r.Closes && r.Refused == quarantine.Form(refused) }) {
		return nil
	}
	untested := func(o model.ObjectRef) bool { // and open: what the plan closes is out, and tested when its turn comes
		return t.runs(o) && !t.plan.passedAlone(o) && t.plan.options.Denied[o] == 0
	}
	others := t.plan.beside([]*networkingv1.Ingress{refused}, untested)
	if len(others) == 0 {
		return nil
	}
	err := s.apart(t.plan.fileOf(others, true, untested))
	if sift.RefusalOf(err) != nil {
		t.hidden = refsOf(others)
	}
	return err
}

// trialEnded handles the result of a trial: Ingresses that pass are served, and those
// that nginx rejects stay in quarantine. What is decided joins in one load.
func (c *Controller) trialEnded(ctx context.Context, t *trial) {
	if t != nil {
		c.trials.free++
		delete(c.trials.tested, t.namespace)
		if c.trials.groups[t.namespace] = t.group; len(t.verdicts) == len(t.tested) {
			delete(c.trials.groups, t.namespace)
		}
		c.retainTrust()
		if c.quarantine.Settle(t.tested, t.verdicts) > 0 && c.trials.decided.IsZero() {
			c.trials.decided = time.Now()
		}
		if c.leaveOut(t.plan, culpritsOf(t.hidden, "it is tested again before its host opens", true)) {
			c.sync(ctx)
			return
		}
	}
	since := c.trials.decided
	if !since.IsZero() && (time.Since(since) >= c.trials.joinAfter || c.trials.idle() && !c.quarantine.Untested()) {
		c.sync(ctx)
		return
	}
	c.tryDue()
}
