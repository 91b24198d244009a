package controller

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
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
	configMap *corev1.ConfigMap  // the settings that are in force
	options   translate.Options  // what config was made with
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

	objects, files            int
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
	c.plans++
	p := &plan{number: c.plans, snap: snap, unread: unread, classesUnreadable: loaded.ClassesUnreadable, started: start, loading: time.Since(start), files: loaded.Files, objects: len(snap.Ingresses())}
	return p, nil
}

// decide makes the configuration and its file of the plan's objects: it translates
// and renders them.
func (c *Controller) decide(p *plan) {
	start := time.Now()
	c.quarantine.release(p.snap)
	served, denied := c.quarantine.substitute(p.snap)
	served = c.settings.substitute(served, c.Translate.ConfigMap)
	options := c.Translate
	options.Denied, options.ClassesUnreadable = denied, p.classesUnreadable
	var found []model.Problem
	p.config, found = translate.Config(served, options, c.memo)
	p.accepted = c.memo.Accepted()
	p.config.Static.Streams = c.streams.screen(p.config.Static.Streams, []*plan{c.target, c.inNginx})
	templates := c.Templates.Current()
	cache := c.cache
	file, unprintable := templates.Render(p.config.Static, c.Environment, cache)
	p.render = func(s model.Static) *render.File {
		part, _ := templates.Render(s, c.Environment, nil)
		return part
	}
	p.served, p.options, p.file, p.templates = served, options, file, templates
	p.configMap = served.ConfigMap(c.Translate.ConfigMap)
	values, _ := settings.Read(p.configMap)
	p.drain = values.Workers.ShutdownTimeout.Time()
	p.problems = c.problems.Join(first(p.snap.Ingresses()), found, unprintable, c.quarantine.problems(), c.settings.problems(),
		c.streams.problems(), p.unread, c.Audience.Remarks())
	p.deciding = time.Since(start)
}

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
		Ingresses: p.objects, Servers: len(p.config.Static.Servers),
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
		refs = append(refs, model.ObjectRef{Kind: "Ingress", Namespace: ing.Namespace, Name: ing.Name})
	}
	return refs
}
