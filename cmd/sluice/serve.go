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

// stopSignals ask to stop. That a terminal was closed is one of them, unless
// nohup has it ignored.
func stopSignals() []os.Signal {
	signals := []os.Signal{syscall.SIGTERM, syscall.SIGINT}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// serve runs the controller and, when a signal asks for it, stops in order:
// fail readiness, wait the grace period, take the status back, let another
// replica lead, stop nginx. A second signal ends the waiting: nginx is ended at
// once, and never left behind. Signals stay taken when it returns: the kubelet
// sends one as soon as the preStop hook has ended, and the process would end by
// that, with a status other than 0, while it stays for the hook.
func (p *parts) serve(ctx context.Context, f *runFlags, c *controller.Controller) error {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, stopSignals()...)
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	checks := health.Checks{Address: net.JoinHostPort(f.healthzHost, strconv.Itoa(f.healthzPort)), Path: f.HealthPath, Both: f.oneCheck}
	if err := checks.Serve(running, c, p.options.Log); err != nil {
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
	// Requests may take minutes to end. As this replica looks at no object any
	// more, another one is to lead meanwhile.
	go func() {
		<-retreated
		p.cluster.stop()
	}()
	err = errors.Join(<-done, p.stop(patient, f))
	<-retreated
	return err
}

// retreatWait is how long the stop of nginx waits for what leads clients here to
// be taken back. If there is more of that, it goes on while nginx stops.
const retreatWait = 5 * time.Second

// longestRetreat bounds that, for when the API server does not answer.
const longestRetreat = time.Minute

// retreat takes back what leads clients here. What it returns is closed when that
// is done, or took as long as nginx may take to stop, or too long.
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

// stop ends nginx; when ctx is done, at once.
func (p *parts) stop(ctx context.Context, f *runFlags) error {
	grace := time.Duration(f.postShutdownGrace) * time.Second
	ctx, cancel := context.WithTimeout(ctx, grace+5*time.Second)
	defer cancel()
	return p.options.Process.Stop(ctx, grace)
}
