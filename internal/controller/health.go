package controller

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
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
	if err := c.first.ready(time.Now()); err != nil {
		return err
	}
	c.wasReady.Store(true)
	return nil
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

// idleness returns the reason why the pod must not get requests although nginx runs, nil if
// there is none.
func (c *Controller) idleness() error {
	if c.wasReady.Load() {
		return nil
	}
	return c.closing(c.shown.serving)
}

// closing returns the cause outside of Ingresses and Namespaces by which paths answer 503 in a
// plan, nil if there is none. A rollout stops there, because the pods before may serve them.
func (c *Controller) closing(p *plan) error {
	if c.unsettled() {
		return fmt.Errorf("ConfigMap %s does not exist, and --require-configmap is given: every path answers 503", c.Translate.ConfigMap)
	}
	if p == nil {
		return nil
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
	return !p.snap.HasSecrets() && slices.ContainsFunc(p.named(problem.Object), func(s quarantine.Subject) bool {
		return s.Kind == "Secret" && p.snap.Forbids(s.ObjectRef)
	})
}

// noteIdleness stores the idleness of the plan in force, for Ready.
func (c *Controller) noteIdleness() {
	undecided := c.quarantine.Undecided()
	if c.first.undecided.Store(int64(undecided)); undecided > 0 {
		c.first.refused() // a former process may have seen the refusal
	}
	why := c.idleness()
	c.report.Trouble("not ready", why)
	if why != nil {
		c.idle.Store(&why)
		return
	}
	c.idle.Store(nil)
	if undecided == 0 {
		c.wasReady.Store(true)
	}
	c.report.Trouble("not written that this pod was ready; trying again at the next sync", c.noteReady())
}

// onceReady is the file of the state directory that says that the pod was ready once.
const onceReady = "once-ready"

// noteReady tells the next process that the pod was ready.
func (c *Controller) noteReady() error {
	if !c.wasReady.Load() || c.readyNoted {
		return nil
	}
	err := nginx.ReplaceSynced(filepath.Join(c.StateDir, onceReady), func(*os.File) error { return nil }, (*os.File).Sync)
	c.readyNoted = err == nil
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
