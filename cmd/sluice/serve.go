package main

import (
	"context"
	"errors"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"sluice/internal/controller"
	"sluice/internal/health"
)

// stopSignals returns the signals to stop. SIGHUP, from a closed terminal, is one unless
// nohup ignores it.
func stopSignals() []os.Signal {
	signals := []os.Signal{syscall.SIGTERM, syscall.SIGINT}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// serve runs the controller. On a signal it stops in this order: fail readiness, wait the
// grace period, remove the status, let another replica lead, stop nginx. A second signal
// ends the waiting and stops nginx at once. Signals stay handled after it returns: the
// kubelet sends one when the preStop hook has ended, which would otherwise end the waiting
// process with another status than 0.
func (p *parts) serve(ctx context.Context, f *runFlags, c *controller.Controller) error {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, stopSignals()...)
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	checks := health.Checks{Address: net.JoinHostPort(f.healthzHost, strconv.Itoa(f.healthzPort)), Path: f.HealthPath, Both: f.oneCheck, Metrics: p.metered.Handler()}
	if err := checks.Serve(running, c, p.options.Log); err != nil {
		return err
	}
	if err := f.serveProfiles(running, p.options.Log); err != nil {
		return err
	}
	if err := p.metered.Listen(ctx); err != nil {
		return err
	}
	if err := p.serveWebhook(ctx, f, c); err != nil {
		return err
	}
	stopDebug, err := p.openDebug(c)
	if err != nil {
		return err
	}
	defer stopDebug()
	p.cluster.start(ctx)
	defer p.cluster.stop()
	done := make(chan error, 1)
	go func() { done <- c.Run(running) }()
	patient, hurry := context.WithCancel(ctx)
	defer hurry()
	select {
	case err := <-done:
		return errors.Join(err, p.stop(patient, f))
	case s := <-signals:
		p.options.Log.Info("stopping", "signal", s.String(), "grace", f.shutdownGrace)
	}
	c.Drain()
	go func() {
		select {
		case s := <-signals:
			p.options.Log.Warn("stopping at once", "signal", s.String())
			hurry()
		case <-patient.Done():
		}
	}()
	select {
	case <-patient.Done():
	case <-time.After(time.Duration(f.shutdownGrace) * time.Second):
	}
	retreated := p.retreat(patient, f)
	cancel()
	// Requests can take minutes to end. This replica no longer reads objects, so another one
	// should lead meanwhile.
	go func() {
		<-retreated
		p.cluster.stop()
	}()
	err = errors.Join(<-done, p.stop(patient, f))
	<-retreated
	return err
}

// retreatWait is how long the stop of nginx waits for the removal of statuses, which then
// goes on while nginx stops.
const retreatWait = 5 * time.Second

// longestRetreat limits the removal if the API server does not answer.
const longestRetreat = time.Minute

// retreat removes the statuses. It closes done at the end of the removal, which may take as
// long as nginx's stop, but not longer than longestRetreat.
func (p *parts) retreat(ctx context.Context, f *runFlags) (done <-chan struct{}) {
	retreated := make(chan struct{})
	go func() {
		defer close(retreated)
		ctx, cancel := context.WithTimeout(ctx, retreatWait+min(time.Duration(f.postShutdownGrace)*time.Second, longestRetreat))
		defer cancel()
		p.cluster.retreat(ctx)
	}()
	select {
	case <-retreated:
	case <-ctx.Done():
	case <-time.After(retreatWait):
	}
	return retreated
}

// stop stops nginx, at once if ctx is done.
func (p *parts) stop(ctx context.Context, f *runFlags) error {
	grace := time.Duration(f.postShutdownGrace) * time.Second
	ctx, cancel := context.WithTimeout(ctx, grace+5*time.Second)
	defer cancel()
	defer p.closeTraces()
	return p.options.Process.Stop(ctx, grace)
}

// lastSpans is how long the export of the last spans may take.
const lastSpans = 3 * time.Second

// closeTraces exports the last spans, after nginx has stopped.
func (p *parts) closeTraces() {
	ctx, cancel := context.WithTimeout(context.Background(), lastSpans)
	defer cancel()
	p.traces.Close(ctx)
}
