package controller

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// healthTimeout bounds the question to nginx.
const healthTimeout = time.Second

// Ready reports whether a worker has confirmed the first configuration, something
// of the cluster is served, and no stop was asked for; the error says what is
// missing.
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

// idleness says why nothing of the cluster is served although nginx runs, as long
// as that may change by itself or by the settings: nil if there is something.
func (c *Controller) idleness(p *plan) error {
	if c.unsettled() {
		return fmt.Errorf("ConfigMap %s does not exist, and --require-configmap is given: every path answers 503", c.Translate.ConfigMap)
	}
	waiting := c.quarantine.Waiting()
	if waiting > 0 && len(p.accepted) <= len(p.options.Denied) {
		return fmt.Errorf("no Ingress is served: %d wait for a test of their own", waiting)
	}
	return nil
}

// noteIdleness lets Ready know of a plan that is in force.
func (c *Controller) noteIdleness(p *plan) {
	why := c.idleness(p)
	c.report.Trouble("nothing is served", why)
	if why == nil {
		c.idle.Store(nil)
		return
	}
	c.idle.Store(&why)
}

// Healthy reports whether an nginx worker answers.
func (c *Controller) Healthy(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	if _, err := c.Runtime.Status(ctx); err != nil {
		return fmt.Errorf("nginx does not answer: %w", err)
	}
	return nil
}

// Drain fails readiness, so that no new traffic is sent here.
func (c *Controller) Drain() { c.stopping.Store(true) }
