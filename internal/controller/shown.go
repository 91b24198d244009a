package controller

import (
	"sync/atomic"
	"time"

	"sluice/internal/debug"
	"sluice/internal/model"
	"sluice/internal/report"
)

// shown is what others may look at while the loop goes on.
type shown struct {
	// serving is the plan that is in force, told what nginx was told last at run
	// time, last the last attempt.
	serving *plan
	told    model.Dynamic
	last    *debug.Attempt

	state atomic.Pointer[debug.State]
}

// State is what was brought about so far, nil before anything was. It may be
// called at any time.
func (c *Controller) State() *debug.State { return c.shown.state.Load() }

// attempt notes what the line of a sync tells of a plan.
func (s *shown) attempt(p *plan, line report.SyncLine) {
	s.last = &debug.Attempt{At: time.Now(), Took: line.Took, Reloaded: line.Reload, File: p.file, Err: line.Err}
}

// publish lets others see where things are. It only hands pointers on: what is
// told of them is computed by whoever asks.
func (c *Controller) publish() {
	if c.latest == nil {
		return
	}
	state := &debug.State{Told: c.shown.told, Snapshot: c.latest.snap, Problems: c.latest.problems, Last: c.shown.last}
	if p := c.shown.serving; p != nil {
		state.Confirmed = p.shown()
	}
	c.shown.state.Store(state)
}

// shown gives the views of a plan that is in force.
func (p *plan) shown() *debug.Confirmed {
	return &debug.Confirmed{Snapshot: p.served, Options: p.options, Config: p.config, Problems: p.problems, File: p.file, Ingresses: len(p.accepted)}
}

// logSync writes the line of a sync: what changed since the last line. A reload's line
// may come after those of later syncs, which have told of its changes already.
func (c *Controller) logSync(p *plan, o *outcome) {
	line := p.line(o)
	c.shown.attempt(p, line)
	c.publish()
	if c.lastLogged == nil || p.started.After(c.lastLogged.started) {
		line.What = whatChanged(c.lastLogged, p)
		if line.Err == nil {
			c.lastLogged = p
		}
	}
	c.report.Sync(line)
}
