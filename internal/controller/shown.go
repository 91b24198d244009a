package controller

import (
	"sync/atomic"
	"time"

	"sluice/internal/debug"
	"sluice/internal/debugapi"
	"sluice/internal/model"
)

// shown is the state of the loop that the debug socket shows.
type shown struct {
	// serving is the plan in force. told is what was pushed last, and last is the last
	// attempt to apply a plan.
	serving *plan
	told    model.Dynamic
	last    *debug.Attempt
	// loaded is the plan that nginx loaded last. reloads are the last attempts, the newest
	// first; a published list does not change.
	loaded  *plan
	reloads []debugapi.Reload

	state atomic.Pointer[debug.State]
}

// State returns the published state, nil before the first sync. It may be called at any
// time.
func (c *Controller) State() *debug.State { return c.shown.state.Load() }

// publish stores the current state. It only copies pointers: answers are computed on
// request.
func (c *Controller) publish() {
	if c.latest == nil {
		return
	}
	state := &debug.State{Told: c.shown.told, Snapshot: c.latest.snap, Problems: c.latest.problems, Last: c.shown.last, Reloads: c.shown.reloads}
	if p := c.shown.serving; p != nil {
		state.Confirmed = p.shown()
		state.Confirmed.Environment = c.Environment
	}
	c.shown.state.Store(state)
}

// shown returns the views of a plan in force.
func (p *plan) shown() *debug.Confirmed {
	return &debug.Confirmed{Snapshot: p.served, Options: p.options, Config: p.config, Problems: p.problems, File: p.file, Templates: p.templates, Ingresses: p.accepted}
}

// logSync writes the log line of a sync: the changes since the last line. The line of a
// reload may come after those of later syncs, which have already logged its changes.
func (c *Controller) logSync(p *plan, o *outcome) {
	line := p.line(o)
	if o != nil {
		line.Cause = c.noteAttempt(p, line)
	}
	c.shown.last = &debug.Attempt{At: time.Now(), Took: line.Took, Reloaded: line.Reload, File: p.file, Err: line.Err}
	c.publish()
	if c.lastLogged == nil || p.started.After(c.lastLogged.started) {
		line.What = whatChanged(c.lastLogged, p)
		if line.Err == nil {
			c.lastLogged = p
		}
	}
	c.report.Sync(line)
	c.Synced(line)
}
