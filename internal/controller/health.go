package controller

import (
	"context"
	"errors"
	"fmt"
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
	return nil
}

// idleness returns the reason why nothing of the cluster is served although nginx runs,
// if that can change by itself or through the settings. It returns nil if something is
// served.
func (c *Controller) idleness(p *plan) error {
	if c.unsettled() {
		return fmt.Errorf("ConfigMap %s does not exist, and --require-configmap is given: every path answers 503", c.Translate.ConfigMap)
	}
	waiting := c.quarantine.Waiting()
	if waiting > 0 && len(p.accepted) <= len(p.options.Denied) {
		return fmt.Errorf("no Ingress is served: %d wait for a separate test", waiting)
	}
	return nil
}

// noteIdleness stores the idleness of a plan in force, for Ready.
func (c *Controller) noteIdleness(p *plan) {
	why := c.idleness(p)
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
