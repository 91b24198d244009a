package controller

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"sluice/internal/model"
	"sluice/internal/nginx"
	"sluice/internal/quarantine"
)

// healthTimeout limits the question to nginx.
const healthTimeout = time.Second

// Ready returns nil if a worker has confirmed the first configuration, nothing outside of
// Ingresses and Namespaces has kept the pod from being ready since its start, something of the
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

// idleness returns the reason why the pod must not get requests although nginx runs, nil if
// there is none.
func (c *Controller) idleness(p *plan) error {
	waiting := c.quarantine.Waiting()
	if waiting > 0 && len(p.accepted) <= len(p.options.Denied) {
		return fmt.Errorf("no Ingress is served: %d wait for a separate test", waiting)
	}
	if c.wasReady.Load() {
		return nil
	}
	return c.closing(p)
}

// closing returns the cause outside of Ingresses and Namespaces by which paths answer 503 in a
// plan, nil if there is none. A rollout stops there, because the pods before may serve them.
func (c *Controller) closing(p *plan) error {
	if c.unsettled() {
		return fmt.Errorf("ConfigMap %s does not exist, and --require-configmap is given: every path answers 503", c.Translate.ConfigMap)
	}
	owner := c.settingsOwner().ObjectRef
	for _, problem := range p.problems {
		if problem.Object.Kind == "Template" || problem.Denies && (problem.Object == owner || c.lacksSecrets(p, problem)) {
			return errors.New(problem.String())
		}
	}
	return nil
}

// lacksSecrets reports whether a Problem closes paths because Sluice has no permission to read any
// Secret at all.
func (c *Controller) lacksSecrets(p *plan, problem model.Problem) bool {
	return p.snap != nil && !p.snap.HasSecrets() && slices.ContainsFunc(p.named(problem.Object), func(s quarantine.Subject) bool {
		return s.Kind == "Secret" && p.snap.Forbids(s.ObjectRef)
	})
}

// noteIdleness stores the idleness of a plan in force, for Ready.
func (c *Controller) noteIdleness(p *plan) {
	why := c.idleness(p)
	c.report.Trouble("not ready", why)
	if why != nil {
		c.idle.Store(&why)
		return
	}
	c.idle.Store(nil)
	c.report.Trouble("not written that this pod was ready; trying again at the next sync", c.noteReady())
}

// onceReady is the file of the state directory that says that the pod was ready once.
const onceReady = "once-ready"

// noteReady remembers that the pod is ready, also for the next process.
func (c *Controller) noteReady() error {
	if c.wasReady.Swap(true) {
		return nil
	}
	err := nginx.ReplaceSynced(filepath.Join(c.StateDir, onceReady), func(*os.File) error { return nil }, (*os.File).Sync)
	if err != nil {
		c.wasReady.Store(false)
	}
	return err
}

// wasReadyBefore reports whether a former process of the pod was ready.
func wasReadyBefore(stateDir string) bool {
	_, err := os.Stat(filepath.Join(stateDir, onceReady))
	return err == nil
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
