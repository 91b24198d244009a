package controller

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"sluice/internal/dynamic"
	"sluice/internal/model"
	"sluice/internal/nginx"
)

// applier carries plans out, one at a time: what comes during a reload goes
// together in the next, and a token bucket bounds the reloads.
type applier struct {
	process   *nginx.Process
	runtime   *dynamic.Client
	limiter   *nginx.Limiter
	submitted chan *plan
	outcomes  chan outcome
	// running is the plan that a worker last confirmed, nil if it is not known
	// what runs; only run's goroutine touches it.
	running *plan
	// last is the plan that was confirmed last, also by an nginx that is gone.
	last *plan
	// fatal is the plan during whose reload nginx died last.
	fatal     *plan
	forgotten atomic.Bool
	// busy is set from the moment that a plan is taken up until the next one may
	// be; then free tells, and when a wait for names of DNS ends. awaited says that a change is put off until then.
	busy, awaited atomic.Bool
	free          chan struct{}
	// changed is when something was last submitted or put off, hurry ends a pause.
	changed lastChange
	hurry   chan struct{}
}

// outcome is what became of a plan: confirmed if there is neither a culprit,
// nor refused settings, nor an error.
type outcome struct {
	plan     *plan
	culprits []culprit
	settings []refusedGroup
	err      error

	// same is set if nginx ran this file already, resumed if an nginx that was
	// started anew runs the file from before instead.
	same, resumed       bool
	changed             int
	test, live, settled time.Duration
}

// culprit is an object that nginx refuses: an Ingress, or one TCP or UDP service
// of a ConfigMap.
type culprit struct {
	object model.ObjectRef
	stream string // its key, "" for an Ingress
	text   string
	// undecided is set if only a test of its own can tell.
	undecided bool
}

func newApplier(o Options) *applier {
	return &applier{
		process: o.Process, runtime: o.Runtime, limiter: o.Limiter,
		submitted: make(chan *plan, 1), outcomes: make(chan outcome), free: make(chan struct{}, 1), hurry: make(chan struct{}, 1),
	}
}

// rest says that the next plan may come.
func (a *applier) rest() {
	a.busy.Store(false)
	a.mayGoOn()
}

// mayGoOn tells the loop to look for a plan that waits.
func (a *applier) mayGoOn() {
	select {
	case a.free <- struct{}{}:
	default:
	}
}

// submit hands a plan over. A plan that was not begun yet is replaced.
func (a *applier) submit(p *plan) {
	select {
	case <-a.submitted:
	default:
	}
	a.changed.note()
	a.submitted <- p
}

// putOff notes that a change waits for the end of the reload that is under way.
func (a *applier) putOff() {
	a.changed.note()
	a.awaited.Store(true)
}

// forget says that nginx no longer runs what was confirmed. What comes next waits for
// nothing.
func (a *applier) forget() {
	a.forgotten.Store(true)
	select {
	case a.hurry <- struct{}{}:
	default:
	}
}

func (a *applier) run(ctx context.Context) {
	var streak streak
	for {
		p, ok := a.next(ctx)
		if !ok {
			return
		}
		began := time.Now()
		a.busy.Store(true)
		o := a.apply(ctx, p)
		if ctx.Err() != nil {
			return
		}
		most, calm := streak.pause(time.Since(began), o.err == nil && (len(a.submitted) > 0 || a.awaited.Load()))
		select {
		case a.outcomes <- o:
		case <-ctx.Done():
			return
		}
		a.changed.awaitCalm(ctx, most, calm, a.hurry)
		a.rest()
	}
}

// next waits for a plan and for the rate limit; the newest plan counts.
func (a *applier) next(ctx context.Context) (*plan, bool) {
	var p *plan
	select {
	case p = <-a.submitted:
	case <-ctx.Done():
		return nil, false
	}
	if a.limiter.Wait(ctx) != nil {
		return nil, false
	}
	select {
	case p = <-a.submitted:
	default:
	}
	return p, true
}

// apply tests what changed in a small file of its own, then swaps the whole file
// in. That reads it as a test of it would, and refuses it as a whole: what runs
// goes on. Whom nginx refuses comes back as culprits.
func (a *applier) apply(ctx context.Context, p *plan) outcome {
	if a.forgotten.Swap(false) {
		a.running = nil
	}
	o := outcome{plan: p}
	if a.running != nil && a.running.file.Equal(p.file) {
		o.same, a.running = true, p
		return o
	}
	a.resume(ctx, &o)
	if err := errors.Join(writeTrust(p.file.Trust()), a.process.WriteUsers(p.config.Dynamic.Users)); err != nil {
		o.err = err
		return o
	}
	start := time.Now()
	changed := changedServers(a.running, p)
	o.changed = len(changed)
	b := &blame{ctx: ctx, process: a.process, render: p.render, oldest: p.oldest, runs: p.runsIn(a.running), alone: p.alone, until: start.Add(searchTime)}
	a.test(&o, b, changed)
	if o.refused() || o.err != nil {
		return o
	}
	o.test = time.Since(start)
	a.reload(ctx, &o)
	if a.wantsReason(&o) {
		a.testWhole(&o, b, changed)
	}
	return o
}

// test has nginx test a plan before it is applied. The whole file is tested
// where most of it is new to an nginx that serves.
func (a *applier) test(o *outcome, b *blame, changed []*model.Server) {
	all := o.plan.config.Static
	switch {
	case a.running == nil:
		// A test would protect nothing: it is not known what nginx serves, and a
		// reload that nginx refuses changes nothing of that.
	case len(changed) > len(all.Servers)/2:
		a.testWhole(o, b, changed)
	default:
		err := b.test(part(all, changed))
		if err == nil {
			return
		}
		b.find(all, changed)
		if b.found() || b.failed != nil {
			judge(o, b, err)
			return
		}
		a.testWhole(o, b, changed)
	}
}

// wantsReason reports whether nginx refused a file in a way that a test of the
// whole file explains. If nginx died, to have it back comes first; a plan with
// which it dies again is looked into.
func (a *applier) wantsReason(o *outcome) bool {
	var failed *nginx.ReloadError
	if errors.As(o.err, &failed) && failed.Ended && a.fatal != o.plan {
		a.fatal = o.plan
		return false
	}
	var refused *nginx.TestError
	return failed != nil || errors.As(o.err, &refused)
}

// testWhole tests the whole file, which says more of why nginx refuses it than
// a reload does, and finds the culprits.
func (a *applier) testWhole(o *outcome, b *blame, changed []*model.Server) {
	err := b.read(o.plan.file)
	if err == nil {
		return // an error of the reload stands
	}
	b.until = time.Now().Add(searchTime)
	b.find(o.plan.config.Static, changed)
	b.findWhole(o.plan.config.Static, err)
	judge(o, b, err)
}

// judge takes over what blame found.
func judge(o *outcome, b *blame, err error) {
	if b.failed != nil {
		o.err = b.failed
		return
	}
	o.err, o.culprits, o.settings = err, b.culprits, b.settings
}

// reload swaps the plan's file in and waits until workers confirm it.
func (a *applier) reload(ctx context.Context, o *outcome) {
	// An nginx that was started anew meanwhile holds nothing yet. What else
	// keeps a push from succeeding was logged, and must not hold this back.
	_ = a.runtime.Flush(ctx)
	result, err := a.process.Apply(ctx, o.plan.file)
	o.live, o.settled, o.err = result.Live, result.Settled, err
	var failed *nginx.ReloadError
	var refused *nginx.TestError
	switch {
	case err == nil:
		a.running, a.last = o.plan, o.plan
		// A dictionary that the reload has emptied is filled at once.
		_ = a.runtime.Flush(ctx)
	case errors.Is(err, nginx.ErrNotWritten):
	case errors.As(err, &refused), errors.As(err, &failed) && failed.RolledBack:
	default:
		a.running = nil
	}
}

// resume has an nginx that was started anew run the file from before, if another one
// is due: nobody knows whether that one can be applied. nginx may refuse it, or the
// disk may be full.
func (a *applier) resume(ctx context.Context, o *outcome) {
	if a.running != nil || a.last == nil || a.last.file.Equal(o.plan.file) {
		return
	}
	_ = a.runtime.Flush(ctx)
	if _, err := a.process.Apply(ctx, a.last.file); err == nil {
		a.running, o.resumed = a.last, true
	}
}

// changedServers are those of p that a worker does not run yet: all of them if
// the templates or the settings are others.
func changedServers(running, p *plan) []*model.Server {
	if running == nil || running.templates != p.templates || running.configMap != p.configMap {
		return p.config.Static.Servers
	}
	before, now := running.config.Static.Servers, p.config.Static.Servers
	for len(before) > 0 && len(now) > 0 && before[0] == now[0] {
		before, now = before[1:], now[1:]
	}
	for len(before) > 0 && len(now) > 0 && before[len(before)-1] == now[len(now)-1] {
		before, now = before[:len(before)-1], now[:len(now)-1]
	}
	known := make(map[*model.Server]bool, len(before))
	for _, s := range before {
		known[s] = true
	}
	var changed []*model.Server
	for _, s := range now {
		if !known[s] {
			changed = append(changed, s)
		}
	}
	return changed
}
