package controller

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/quarantine"
	"sluice/internal/render"
	"sluice/internal/report"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// plan is what nginx must do at one time, with the objects and options that it was made
// of.
type plan struct {
	number    int                // increases with each plan
	snap      *snapshot.Snapshot // the objects of the source
	served    *snapshot.Snapshot // with last good forms instead of rejected ones
	settings  *corev1.ConfigMap  // the settings of the source, the last ones if they were deleted
	configMap *corev1.ConfigMap  // the settings in force
	good      *corev1.ConfigMap  // the settings that nginx ran last
	// configs are the ConfigMaps in force that affect the output for Ingresses.
	configs []*corev1.ConfigMap
	options translate.Options // the options for config
	nginx   nginxForm
	// basis is what every verdict on an Ingress or a stream depends on.
	basis quarantine.Basis
	// passed holds the forms that passed a separate test. turn is the turn of the
	// quarantine in which the plan was made.
	passed map[quarantine.Subject]quarantine.Form
	turn   int

	config    model.Config
	accepted  []*networkingv1.Ingress // the Ingresses of our classes
	unread    []model.Problem         // of objects that could not be read
	found     []model.Problem         // those of its objects, known before it is pushed
	problems  []model.Problem         // found, and those of the last push
	file      *render.File
	render    func(model.Static) *render.File
	templates *render.Templates
	drain     time.Duration
	// settingsOf returns the settings of an Ingress.
	settingsOf func() func(*networkingv1.Ingress) *settings.Settings
	// uses counts the references of the served Ingresses, once that is needed.
	uses uses
	// rounds is how many plans in a row before it had what nginx refused by its name.
	rounds int
	// failed and confirmed are the result of applying the plan.
	failed, confirmed bool

	classesUnreadable bool
	replicas          int

	loading, deciding, pushed time.Duration
	started                   time.Time
}

// read begins a plan with the current objects.
func (c *Controller) read(ctx context.Context) (*plan, error) {
	start := time.Now()
	loaded, err := c.Source.Load(ctx)
	if err != nil {
		return nil, err
	}
	c.report.Source(loaded.Notes, loaded.Errors)
	snap, unread := c.snapshots.Next(loaded.Objects)
	c.sizeMemory(ctx, snap)
	c.plans++
	p := &plan{number: c.plans, snap: snap, unread: unread, good: c.good.settings, rounds: c.rounds, classesUnreadable: loaded.ClassesUnreadable, replicas: loaded.Replicas, started: start, loading: time.Since(start)}
	return p, nil
}

// decide translates and renders the plan's objects.
func (c *Controller) decide(p *plan) {
	start := time.Now()
	c.substitute(p)
	var found []model.Problem
	p.config, found = translate.Config(p.served, p.options, c.memo)
	p.accepted = c.memo.Accepted()
	c.streams.screen(p, c.target, c.lastConfirmed)
	p.turn = c.quarantine.Turn()
	templates, environment := p.templates, c.Environment
	if c.Databases != nil {
		environment.Databases = c.Databases.Current()
	}
	file, unprintable := templates.Render(p.config.Static, environment, c.cache)
	p.render = func(s model.Static) *render.File {
		part, _ := templates.Render(s, environment, file.Cache(s.Servers))
		return part
	}
	p.file = file
	p.drain = c.drainOf(p)
	lapsed := translate.Lapsed(p.config.Static.Servers, p.options, start)
	p.found = c.problems.Join(first(p.snap.Ingresses()), found, unprintable, lapsed, c.refusals(), c.settings.problems(),
		c.tellUnresolved(&p.config), c.tellUnhealthy(p.config.Dynamic), c.tellUnstapled(), p.unread, c.Audience.Remarks())
	p.problems = p.found
	p.deciding = time.Since(start)
}

// drainOf returns how long workers drain with the settings of a plan.
func (c *Controller) drainOf(p *plan) time.Duration {
	if c.latest != nil && c.latest.configMap == p.configMap {
		return c.latest.drain
	}
	values, _ := settings.Read(p.configMap)
	return values.Workers.ShutdownTimeout.Time()
}

// runsIn returns a function that reports whether another plan has an object in the same
// form. No object has if there is no other plan.
func (p *plan) runsIn(running *plan) func(model.ObjectRef) bool {
	return func(o model.ObjectRef) bool {
		if running == nil {
			return false
		}
		now, was := p.servedForm(o), running.servedForm(o)
		return now != nil && was != nil && p.options.Denied[o] == running.options.Denied[o] && sameForm(now, was)
	}
}

// passedAlone reports whether an object passed a separate test.
func (p *plan) passedAlone(o model.ObjectRef) bool { return p.passed[quarantine.Of(o)] != nil }

// first identifies the list of Ingresses, which an unchanged snapshot shares with the
// one before. A recreated Ingress can have the same Problems.
func first(ingresses []*networkingv1.Ingress) **networkingv1.Ingress {
	if len(ingresses) == 0 {
		return nil
	}
	return &ingresses[0]
}

// line returns the plan's log line. o is nil if nginx.conf did not change.
func (p *plan) line(o *outcome) report.SyncLine {
	line := report.SyncLine{
		Took: time.Since(p.started), Load: p.loading, Decide: p.deciding, Push: p.pushed,
		Ingresses: len(p.accepted), Servers: len(p.config.Static.Servers),
	}
	if o != nil {
		line.Reload, line.Test, line.Live, line.Settled = o.err == nil && !o.same, o.test, o.live, o.settled
		line.Changed, line.Bytes, line.Err = o.changed, p.file.Len(), o.err
	}
	return line
}
