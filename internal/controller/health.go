package controller

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// healthTimeout limits the question to nginx.
const healthTimeout = time.Second

// Ready returns nil if a worker has confirmed the first configuration, something of the
// cluster is served, and Sluice is not stopping. Otherwise it returns the reason.
func (c *Controller) Ready() error {
	switch {
	case c.stopping.Load():
		return fmt.Errorf("stopping")
	case !c.ready.Load():
		return errors.Join(errors.New("no nginx worker has confirmed a configuration yet"), c.Missing())
	}
	if why := c.idle.Load(); why != nil {
		return *why
	}
	return c.first.ready(time.Now())
}

// firstTime keeps a pod from becoming ready while Ingresses wait to be tested of namespaces
// in which nginx refuses nothing. The zero value is ready to use.
type firstTime struct {
	done atomic.Bool
	// until is the latest time to become ready; undecided is the number of Ingresses.
	until     atomic.Pointer[time.Time]
	undecided atomic.Int64
}

// longestFirst is how long the first refusal can keep a pod from becoming ready.
const longestFirst = 10 * time.Second

// refused notes the first refusal.
func (f *firstTime) refused() {
	until := time.Now().Add(longestFirst)
	f.until.CompareAndSwap(nil, &until)
}

// ready returns why a pod should not become ready yet. It never does so again once it
// returned nil.
func (f *firstTime) ready(now time.Time) error {
	if count := f.undecided.Load(); count > 0 && !f.done.Load() {
		if until := f.until.Load(); until == nil || now.Before(*until) {
			return fmt.Errorf("%d Ingresses wait for a separate test", count)
		}
	}
	f.done.Store(true)
	return nil
}

// idleness returns the reason why nothing of the cluster is served although nginx runs, if
// the settings can change that. It returns nil if something is served.
func (c *Controller) idleness() error {
	if c.unsettled() {
		return fmt.Errorf("ConfigMap %s does not exist, and --require-configmap is given: every path answers 503", c.Translate.ConfigMap)
	}
	return nil
}

// noteIdleness stores the idleness of the plan in force, for Ready.
func (c *Controller) noteIdleness() {
	c.first.undecided.Store(int64(c.quarantine.Undecided()))
	why := c.idleness()
	c.report.Trouble("nothing is served", why)
	if why == nil {
		c.idle.Store(nil)
		return
	}
	c.idle.Store(&why)
}

// Healthy returns nil if an nginx worker answers.
func (c *Controller) Healthy(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	if _, err := c.Runtime.Status(ctx); err != nil {
		return fmt.Errorf("nginx does not answer: %w", err)
	}
	return nil
}

// Drain makes Ready fail, so that no new traffic arrives.
func (c *Controller) Drain() { c.stopping.Store(true) }

// Stopping reports whether Drain was called.
func (c *Controller) Stopping() bool { return c.stopping.Load() }
