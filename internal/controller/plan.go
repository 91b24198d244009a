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

// plan is one answer to "what must nginx do now", with how it was found.
type plan struct {
	number    int                // each plan has a higher one than those before it
	snap      *snapshot.Snapshot // what the source says
	served    *snapshot.Snapshot // with last good forms in the place of refused ones
	settings  *corev1.ConfigMap  // the settings as the source says them, or said them last
	configMap *corev1.ConfigMap  // the settings that are in force
	// configs are the ConfigMaps in force that decide what nginx gets for Ingresses.
	configs []*corev1.ConfigMap
	options translate.Options // what config was made with
	nginx   nginxForm
	// basis is what every verdict on an Ingress or a stream depends on.
	basis quarantine.Basis
	// passed are the forms that passed a test of their own, turn is the state of the
	// quarantine that the plan was made with.
	passed map[quarantine.Subject]quarantine.Form
	turn   int

	config    model.Config
	accepted  []*networkingv1.Ingress // those that are ours
	unread    []model.Problem         // of the objects as such
	problems  []model.Problem
	file      *render.File
	render    func(model.Static) *render.File
	templates *render.Templates
	drain     time.Duration
	// failed and confirmed are what became of it.
	failed, confirmed bool

	classesUnreadable bool
	// unapplied is what changed since; see mustBeTold.
	unapplied unapplied

	loading, deciding, pushed time.Duration
	started                   time.Time
}

// read begins a plan with the objects as they are now.
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
	p := &plan{number: c.plans, snap: snap, unread: unread, classesUnreadable: loaded.ClassesUnreadable, started: start, loading: time.Since(start)}
	return p, nil
}

// decide makes the configuration and its file of the plan's objects: it translates
// and renders them.
func (c *Controller) decide(p *plan) {
	start := time.Now()
	c.substitute(p)
	var found []model.Problem
	p.config, found = translate.Config(p.served, p.options, c.memo)
	p.accepted = c.memo.Accepted()
	c.streams.screen(p, c.target, c.lastConfirmed)
	p.turn = c.quarantine.Turn()
	templates := p.templates
	file, unprintable := templates.Render(p.config.Static, c.Environment, c.cache)
	p.render = func(s model.Static) *render.File {
		part, _ := templates.Render(s, c.Environment, file.Cache(s.Servers))
		return part
	}
	p.file = file
	p.drain = c.drainOf(p)
	p.problems = c.problems.Join(first(p.snap.Ingresses()), found, unprintable, c.refusals(), c.settings.problems(),
		c.tellUnresolved(&p.config), p.unread, c.Audience.Remarks())
	p.deciding = time.Since(start)
}

// drainOf is how long workers drain under the settings of a plan.
func (c *Controller) drainOf(p *plan) time.Duration {
	if c.latest != nil && c.latest.configMap == p.configMap {
		return c.latest.drain
	}
	values, _ := settings.Read(p.configMap)
	return values.Workers.ShutdownTimeout.Time()
}

// runsIn tells the objects that another plan has in the same form; nil if there is
// none.
func (p *plan) runsIn(running *plan) func(model.ObjectRef) bool {
	if running == nil {
		return nil
	}
	return func(o model.ObjectRef) bool {
		now, was := p.servedForm(o), running.servedForm(o)
		return now != nil && was != nil && p.options.Denied[o] == running.options.Denied[o] && sameForm(now, was)
	}
}

// alone tells the objects that passed a test of their own.
func (p *plan) alone(o model.ObjectRef) bool { return p.passed[quarantine.Of(o)] != nil }

// first names a list that a snapshot has in common with the one before if nothing
// of it changed: an Ingress that was made anew may have the same Problems.
func first(ingresses []*networkingv1.Ingress) **networkingv1.Ingress {
	if len(ingresses) == 0 {
		return nil
	}
	return &ingresses[0]
}

// line is the plan's log line; o is nil if nginx.conf did not change.
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

// oldest are the Ingresses that are served, the oldest first.
func (p *plan) oldest() []model.ObjectRef {
	var refs []model.ObjectRef
	for _, ing := range p.served.Ingresses() {
		refs = append(refs, snapshot.RefOf(ing))
	}
	return refs
}
