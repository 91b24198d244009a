// Package controller is the loop: snapshot, translate, render, apply, report.
//
// What goes in is a Source of objects; what comes out is an nginx that serves
// them, and the Problems of those that it could not serve. One goroutine
// decides (this file and plan.go), another applies (apply.go), so that
// endpoints and certificates never wait for a reload.
package controller

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"sluice/internal/dynamic"
	"sluice/internal/manifest"
	"sluice/internal/model"
	"sluice/internal/nginx"
	"sluice/internal/render"
	"sluice/internal/report"
	"sluice/internal/translate"
)

// Source gives the objects and says when they changed.
type Source interface {
	// Load returns all objects that are there now.
	Load(ctx context.Context) (manifest.Result, error)
	// Watch signals changes, coalesced, until ctx ends.
	Watch(ctx context.Context) (<-chan struct{}, error)
}

// Templates gives the compiled templates and says when they were replaced.
type Templates interface {
	Current() *render.Templates
	Changes() <-chan struct{}
	// Reject goes back from templates that nginx refuses to those before.
	Reject(refused, before *render.Templates, reason string)
}

// Options say what a Controller works with.
type Options struct {
	Source      Source
	Templates   Templates
	Translate   translate.Options
	Environment render.Environment
	Process     *nginx.Process
	Limiter     *nginx.Limiter
	Runtime     *dynamic.Client
	Resolver    *dynamic.Resolver
	// Ports must be free when nginx has started; none is looked at if nginx is
	// run by something else.
	Ports []Port
	// StateDir is where the last good forms are kept.
	StateDir string
	Log      *slog.Logger
}

// Controller keeps nginx in step with the objects. Use New.
type Controller struct {
	Options
	report     *report.Reporter
	quarantine *quarantine
	good       *lastGood
	settings   settingsGuard
	memo       *translate.Memo
	cache      *render.Cache
	applier    *applier

	// target is the plan whose file runs or is being applied; latest is the
	// newest plan, which may differ from it in what is not in the file.
	target, latest *plan
	// wanted is what nginx is told at run time, leaving what workers that drain
	// still need.
	wanted  model.Dynamic
	leaving leaving
	// templates are those that nginx last took.
	templates *render.Templates
	retry     <-chan time.Time
	drop      <-chan time.Time
	delay     time.Duration

	ready    atomic.Bool
	stopping atomic.Bool
}

// New prepares a controller. It reads the last good forms from the state
// directory.
func New(o Options) (*Controller, error) {
	good, err := openLastGood(o.StateDir + "/last-good.jsonl")
	if err != nil {
		return nil, err
	}
	c := &Controller{
		Options: o,
		report:  report.New(o.Log),
		good:    good,
		memo:    translate.NewMemo(),
		cache:   render.NewCache(),
	}
	c.quarantine = newQuarantine(c.addsProtection)
	c.applier = newApplier(o)
	return c, nil
}

// Run starts nginx and keeps it in step until ctx ends; then it stops nginx
// gracefully. It returns an error if it could not start.
func (c *Controller) Run(ctx context.Context) error {
	changes, err := c.Source.Watch(ctx)
	if err != nil {
		return err
	}
	bootstrap, err := c.Templates.Current().Bootstrap(c.Environment)
	if err != nil {
		return fmt.Errorf("render the first configuration: %w", err)
	}
	if err := c.Process.Start(ctx, bootstrap.Bytes()); err != nil {
		return err
	}
	if err := checkPorts(c.Ports); err != nil {
		return err
	}
	go c.Resolver.Run(ctx)
	go c.applier.run(ctx)
	c.sync(ctx)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-changes:
			c.sync(ctx)
		case <-c.Templates.Changes():
			c.cache = render.NewCache()
			c.sync(ctx)
		case <-c.Resolver.Watch():
			c.push(ctx)
		case event := <-c.Process.Events():
			c.happened(ctx, event)
		case outcome := <-c.applier.outcomes:
			c.applied(ctx, outcome)
		case <-c.retry:
			c.retry = nil
			c.sync(ctx)
		case <-c.drop:
			c.drop = nil
			c.retain(ctx)
		}
	}
}

// sync brings nginx in step with the objects as they are now.
func (c *Controller) sync(ctx context.Context) {
	p, err := c.plan(ctx)
	if err != nil {
		c.Log.Error("objects not read; what runs goes on", "error", err)
		c.retryLater()
		return
	}
	c.leaving.note(c.wanted, p.config.Dynamic, p.started)
	c.wanted, c.latest = p.config.Dynamic, p
	p.pushed = c.push(ctx)
	c.report.Problems(p.problems)
	if c.target == nil || c.target.failed || !p.file.Equal(c.target.file) {
		c.target = p
		c.applier.submit(p)
		return
	}
	if c.target.confirmed {
		c.keep(p)
	}
	c.report.Sync(p.line(nil))
}

// push tells nginx the endpoints and certificates. A failure is tried again: it
// never holds back anything else.
func (c *Controller) push(ctx context.Context) time.Duration {
	start := time.Now()
	if err := c.Runtime.Push(ctx, c.Resolver.Fill(c.wanted)); err != nil && ctx.Err() == nil {
		c.Log.Error("endpoints and certificates not pushed; trying again", "error", err)
		c.retryLater()
	}
	return time.Since(start)
}

// retain drops the runtime state that no configuration refers to any more, not
// even one whose workers drain.
func (c *Controller) retain(ctx context.Context) {
	kept, more := c.leaving.with(c.wanted, time.Now().Add(-c.latest.drain))
	if err := c.Runtime.Retain(ctx, c.Resolver.Fill(kept)); err != nil && ctx.Err() == nil {
		c.Log.Warn("old endpoints and certificates not dropped", "error", err)
	}
	if more {
		c.drop = time.After(c.latest.drain)
	}
}

// happened brings a new nginx process, which runs the bootstrap file and holds
// nothing, to where the old one was.
func (c *Controller) happened(ctx context.Context, event nginx.Event) {
	if event.Kind != nginx.Restarted {
		return
	}
	c.Log.Warn("telling nginx everything again", "reason", event.Text)
	c.push(ctx)
	c.applier.forget()
	if c.target != nil {
		c.applier.submit(c.target)
	}
}

// applied takes in what became of a plan.
func (c *Controller) applied(ctx context.Context, o outcome) {
	switch {
	case o.refused() && c.refuse(o):
		c.target = nil
		c.sync(ctx)
	case o.refused() || o.err != nil:
		o.plan.failed = true
		c.report.Sync(o.plan.line(&o))
		c.retryLater()
	default:
		c.confirmed(o)
	}
}

// confirmed notes that a worker answered with the plan's configuration.
func (c *Controller) confirmed(o outcome) {
	c.ready.Store(true)
	c.delay = 0
	o.plan.confirmed = true
	c.templates = o.plan.templates
	good := o.plan
	if c.latest.file.Equal(good.file) {
		good = c.latest
	}
	c.keep(good)
	if c.drop == nil {
		c.drop = time.After(o.plan.drain)
	}
	c.report.Sync(o.plan.line(&o))
}

// keep remembers the forms that nginx now serves as good.
func (c *Controller) keep(p *plan) {
	if err := c.good.record(p.served, p.configMap); err != nil {
		c.Log.Warn("last good forms not kept", "error", err)
	}
}

// retryLater syncs again after a while that doubles up to half a minute.
func (c *Controller) retryLater() {
	c.delay = min(max(2*c.delay, 250*time.Millisecond), 30*time.Second)
	c.retry = time.After(c.delay)
}
