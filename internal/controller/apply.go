package controller

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"sluice/internal/dynamic"
	"sluice/internal/model"
	"sluice/internal/nginx"
)

// applier applies plans, one at a time. All plans that arrive during a reload are
// replaced by the newest one, and a token bucket limits the reloads.
type applier struct {
	process   process
	runtime   *dynamic.Client
	limiter   *nginx.Limiter
	submitted chan *plan
	outcomes  chan outcome
	// running is the plan that a worker last confirmed, nil if it is unknown what nginx
	// runs. Only run's goroutine uses it.
	running *plan
	// last is the plan that was confirmed last, even by an nginx that has ended.
	last *plan
	// fatal is the plan during whose reload nginx last died.
	fatal     *plan
	forgotten atomic.Bool
	// busy is set from the start of a plan until the next plan may start; free then
	// signals the loop, and also when a wait for DNS names ends. awaited is set if a
	// change was postponed until then.
	busy, awaited atomic.Bool
	free          chan struct{}
	// changed is the time of the last submitted or postponed change. hurry ends a
	// pause.
	changed lastChange
	hurry   chan struct{}
}

// process runs nginx: a Process of package nginx, except in tests.
type process interface {
	tester
	Apply(ctx context.Context, conf io.WriterTo) (nginx.Result, error)
	WriteUsers(files []*model.UserFile) error
}

// outcome is the result of a plan. The plan is confirmed if there is no culprit, no
// rejected setting and no error.
type outcome struct {
	plan     *plan
	culprits []culprit
	settings []refusedGroup
	err      error
	// baseless is set if nginx refuses the plan without any Ingress.
	baseless bool
	// stale is set if nginx refuses even the file that it runs: not the change is the cause.
	stale bool

	// same is set if nginx already ran this file. resumed is set if a restarted nginx
	// runs the previous file instead.
	same, resumed       bool
	changed             int
	test, live, settled time.Duration
}

// culprit is an object that nginx refuses, or one TCP or UDP service of a ConfigMap.
type culprit struct {
	object model.ObjectRef
	stream string // the key of the TCP or UDP service, "" for a whole object
	text   string
	// undecided is set if only a separate test can tell.
	undecided bool
}

func newApplier(o Options) *applier {
	return &applier{
		process: o.Process, runtime: o.Runtime, limiter: o.Limiter,
		submitted: make(chan *plan, 1), outcomes: make(chan outcome), free: make(chan struct{}, 1), hurry: make(chan struct{}, 1),
	}
}

// rest allows the next plan.
func (a *applier) rest() {
	a.busy.Store(false)
	a.mayGoOn()
}

// mayGoOn tells the loop to look for a waiting plan.
func (a *applier) mayGoOn() {
	select {
	case a.free <- struct{}{}:
	default:
	}
}

// submit hands a plan over. It replaces a plan that has not started.
func (a *applier) submit(p *plan) {
	select {
	case <-a.submitted:
	default:
	}
	a.changed.note()
	a.submitted <- p
}

// putOff records that a change waits for the end of the current reload.
func (a *applier) putOff() {
	a.changed.note()
	a.awaited.Store(true)
}

// forget records that nginx no longer runs the confirmed plan. The next plan skips the
// pause.
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

// next waits for a plan and for the rate limit, and returns the newest plan.
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

// apply tests the changed servers in a small file, and then applies the whole file:
// nginx tests that when it reloads, and keeps the running one if it rejects it. The
// objects that nginx rejects are returned as culprits.
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
	s := &search{ctx: ctx, process: a.process, plan: p, runs: p.runsIn(a.running)}
	if a.running != nil {
		s.running = a.running.file
	}
	a.test(&o, s, changed)
	if o.refused() || o.err != nil {
		return o
	}
	o.test = time.Since(start)
	a.reload(ctx, &o)
	if a.wantsReason(&o) {
		a.testWhole(&o, s)
	}
	return o
}

// test has nginx test a plan before it is applied. It tests the whole file if most of
// it differs from the running one.
func (a *applier) test(o *outcome, s *search, changed []*model.Server) {
	all := o.plan.config.Static
	switch {
	case a.running == nil:
		// It is unknown what nginx serves, and a reload that nginx rejects does not
		// change that. So a test would protect nothing.
	case len(changed) > len(all.Servers)/2:
		a.testWhole(o, s)
	default:
		file := o.plan.render(part(all, changed))
		if err := s.test(file); err != nil {
			s.find(o, file, err)
		}
	}
}

// wantsReason reports whether nginx rejected a file in a way that a test of the whole
// file explains. If nginx died, its restart comes first; the plan is tested if nginx
// dies with it again.
func (a *applier) wantsReason(o *outcome) bool {
	var failed *nginx.ReloadError
	if errors.As(o.err, &failed) && failed.Ended && a.fatal != o.plan {
		a.fatal = o.plan
		return false
	}
	var refused *nginx.TestError
	return failed != nil || errors.As(o.err, &refused)
}

// testWhole tests the whole file, because nginx then names the line, and finds the
// culprits.
func (a *applier) testWhole(o *outcome, s *search) {
	// If it passes, the error of the reload remains.
	if err := s.test(o.plan.file); err != nil {
		s.find(o, o.plan.file, err)
	}
}

// reload applies the plan's file and waits until workers confirm it.
func (a *applier) reload(ctx context.Context, o *outcome) {
	// A restarted nginx has no endpoints and certificates yet. Other errors of a push
	// are logged elsewhere and must not delay the reload.
	_ = a.runtime.Flush(ctx)
	result, err := a.process.Apply(ctx, o.plan.file)
	o.live, o.settled, o.err = result.Live, result.Settled, err
	var failed *nginx.ReloadError
	var refused *nginx.TestError
	switch {
	case err == nil:
		a.running, a.last = o.plan, o.plan
		// The reload may have emptied a dictionary.
		_ = a.runtime.Flush(ctx)
	case errors.Is(err, nginx.ErrNotWritten):
	case errors.As(err, &refused), errors.As(err, &failed) && failed.RolledBack:
	default:
		a.running = nil
	}
}

// resume makes a restarted nginx run the previous file first if the plan has another
// one, because nginx may reject the plan, or the disk may be full.
func (a *applier) resume(ctx context.Context, o *outcome) {
	if a.running != nil || a.last == nil || a.last.file.Equal(o.plan.file) {
		return
	}
	_ = a.runtime.Flush(ctx)
	if _, err := a.process.Apply(ctx, a.last.file); err == nil {
		a.running, o.resumed = a.last, true
	}
}

// changedServers are the servers of p that no worker runs yet: all of them if the
// templates or the settings differ.
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
