package controller

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"sluice/internal/dynamic"
	"sluice/internal/model"
	"sluice/internal/nginx"
	"sluice/internal/render"
)

// smallFile is a size, in bytes, up to which only the whole file is tested: a
// test of the part that changed would cost every good change more time than it
// saves for a bad one.
const smallFile = 1 << 20

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
	running   *plan
	forgotten atomic.Bool
}

// outcome is what became of a plan: confirmed if there is neither a culprit,
// nor refused settings, nor an error.
type outcome struct {
	plan     *plan
	culprits []culprit
	settings string // nginx's words if it refuses the settings
	err      error

	// same is set if nginx ran this file already.
	same                bool
	changed             int
	test, live, settled time.Duration
}

// culprit is an object that nginx refuses.
type culprit struct {
	object model.ObjectRef
	text   string
}

func newApplier(o Options) *applier {
	return &applier{
		process: o.Process, runtime: o.Runtime, limiter: o.Limiter,
		submitted: make(chan *plan, 1), outcomes: make(chan outcome),
	}
}

// submit hands a plan over. A plan that was not begun yet is replaced.
func (a *applier) submit(p *plan) {
	select {
	case <-a.submitted:
	default:
	}
	a.submitted <- p
}

// forget says that nginx no longer runs what was confirmed.
func (a *applier) forget() { a.forgotten.Store(true) }

func (a *applier) run(ctx context.Context) {
	for {
		p, ok := a.next(ctx)
		if !ok {
			return
		}
		o := a.apply(ctx, p)
		if ctx.Err() != nil {
			return
		}
		select {
		case a.outcomes <- o:
		case <-ctx.Done():
			return
		}
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

// apply tests what changed in a small file of its own, then the whole file,
// then swaps it in. Whom nginx refuses comes back as culprits.
func (a *applier) apply(ctx context.Context, p *plan) outcome {
	if a.forgotten.Swap(false) {
		a.running = nil
	}
	o := outcome{plan: p}
	if a.running != nil && a.running.file.Equal(p.file) {
		o.same, a.running = true, p
		return o
	}
	if err := writeTrust(p.file); err != nil {
		o.err = err
		return o
	}
	start := time.Now()
	changed := changedServers(a.running, p)
	o.changed = len(changed)
	if a.refused(ctx, &o, changed) {
		return o
	}
	o.test = time.Since(start)
	// An nginx that was started anew meanwhile holds nothing yet. What else
	// keeps a push from succeeding was logged, and must not hold this back.
	_ = a.runtime.Flush(ctx)
	result, err := a.process.Apply(ctx, p.file)
	o.live, o.settled, o.err = result.Live, result.Settled, err
	var failed *nginx.ReloadError
	switch {
	case err == nil:
		a.running = p
	case !errors.As(err, &failed) || !failed.RolledBack:
		a.running = nil
	}
	return o
}

// refused runs nginx's tests and finds the culprits. It reports whether the
// plan must not be applied.
func (a *applier) refused(ctx context.Context, o *outcome, changed []*model.Server) bool {
	p := o.plan
	b := &blame{ctx: ctx, process: a.process, render: p.render, oldest: p.oldest}
	if a.running != nil && p.file.Len() > smallFile && len(changed) < len(p.config.Static.Servers)/2 {
		if err := b.test(part(p.config.Static, changed)); err != nil {
			b.find(p.config.Static, changed)
		}
	}
	if !b.found() {
		if err := a.process.Test(ctx, p.file); err != nil {
			b.find(p.config.Static, changed)
			b.findWhole(p.config.Static, err)
			o.err = err
		}
	}
	o.culprits, o.settings = b.culprits, b.settings
	var test *nginx.TestError
	if o.err != nil && !errors.As(o.err, &test) {
		o.culprits, o.settings = nil, ""
	}
	return b.found() || o.err != nil
}

// changedServers are those of p that a worker does not run yet: all of them if
// the templates or the settings are others.
func changedServers(running, p *plan) []*model.Server {
	if running == nil || running.templates != p.templates || running.configMap != p.configMap {
		return p.config.Static.Servers
	}
	known := make(map[*model.Server]bool, len(running.config.Static.Servers))
	for _, s := range running.config.Static.Servers {
		known[s] = true
	}
	var changed []*model.Server
	for _, s := range p.config.Static.Servers {
		if !known[s] {
			changed = append(changed, s)
		}
	}
	return changed
}

// writeTrust writes the certificates of authorities that the file names. They
// are public, and their names are hashes of their content.
func writeTrust(file *render.File) error {
	for _, trust := range file.Trust() {
		if _, err := os.Stat(trust.Path); err == nil {
			continue
		}
		temporary := trust.Path + ".new"
		if err := os.MkdirAll(filepath.Dir(trust.Path), 0o755); err != nil {
			return fmt.Errorf("write trusted authorities: %w", err)
		}
		if err := os.WriteFile(temporary, []byte(trust.PEM), 0o644); err != nil {
			return fmt.Errorf("write trusted authorities: %w", err)
		}
		if err := os.Rename(temporary, trust.Path); err != nil {
			return fmt.Errorf("write trusted authorities: %w", err)
		}
	}
	return nil
}
