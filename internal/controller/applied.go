package controller

import (
	"cmp"
	"context"
	"time"
)

// applied handles the result of a plan. If a newer plan is in progress, that may fix
// the errors of this one.
func (c *Controller) applied(ctx context.Context, o outcome) {
	if o.resumed {
		c.ready.Store(true)
	}
	if o.refused() {
		c.first.refused()
	}
	switch {
	case c.streams.refusePorts(o, c.lastConfirmed), o.refused() && c.refuse(o):
		c.target = nil
		c.sync(ctx)
	case o.refused() && o.plan != c.target:
	case o.err != nil || o.refused():
		o.plan.failed = true
		c.logSync(o.plan, &o)
		c.retryLater()
	default:
		c.confirmed(ctx, o)
	}
}

// confirmed records that a worker answered with the plan's configuration.
func (c *Controller) confirmed(ctx context.Context, o outcome) {
	c.delay, c.rounds = 0, 0
	o.plan.confirmed, o.plan.failed = true, false
	c.lastConfirmed = o.plan
	c.templates = o.plan.templates
	p := o.plan
	if c.latest.file.Equal(p.file) {
		p = c.latest
	}
	c.inForce(ctx, p)
	c.ready.Store(true)
	c.logSync(o.plan, &o)
	if c.quarantine.Join() {
		c.sync(ctx)
		return
	}
	c.tryDue()
}

// inForce records the forms that nginx now serves as good, and what nginx no longer
// needs, and pushes what had no room beside that.
func (c *Controller) inForce(ctx context.Context, p *plan) {
	freed := c.release(p)
	c.shown.serving = p
	c.noteIdleness()
	c.Audience.Served(p.accepted)
	err := c.good.record(p.served, p.options.Denied, p.configMap)
	c.report.Trouble("last good forms not written; trying again at the next sync", err)
	c.report.Trouble("refused forms not written; trying again at the next sync", c.remember(p))
	if freed {
		c.pushLeftOut(ctx)
	}
	c.dropLater()
}

// release records that nginx runs a plan, and reports whether that ends the need for an item.
func (c *Controller) release(p *plan) (freed bool) {
	return c.retired.confirmed(p.number, time.Now(), cmp.Or(c.shown.serving, p).drain)
}

// retryLater syncs again after a delay that doubles, up to half a minute. It does not
// restart a running timer, so that frequent changes cannot postpone the retry for ever.
func (c *Controller) retryLater() {
	if c.retry != nil {
		return
	}
	c.delay = min(max(2*c.delay, 250*time.Millisecond), 30*time.Second)
	c.retry = time.After(c.delay)
}
