package nginx

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// ErrNotRunning means that there is no nginx to reload. It restarts automatically,
// and an Event reports that.
var ErrNotRunning = errors.New("nginx is not running")

// Conf is a configuration as bytes.
type Conf []byte

// WriteTo writes all of it.
func (c Conf) WriteTo(w io.Writer) (int64, error) {
	n, err := w.Write(c)
	return int64(n), err
}

// EventKind is the kind of an Event.
type EventKind string

// The kinds of event.
const (
	// Died: the master ended unexpectedly.
	Died EventKind = "Died"
	// Restarted: nginx runs the bootstrap file again. Its shared memory is empty: the
	// owner must push everything and Apply.
	Restarted EventKind = "Restarted"
)

// Event is an unexpected change of nginx.
type Event struct {
	Kind EventKind
	// Text is one line.
	Text string
}

// Process is an nginx that we run, or one that another program runs
// (Options.PIDFile). Its methods are safe for concurrent use; Test, Apply and
// restarts exclude each other.
type Process struct {
	install Install
	options Options
	status  StatusFunc

	// turn is a lock on the state directory.
	turn chan struct{}
	// life ends with Stop; finished is closed when nothing restarts nginx any more.
	life     context.Context
	end      context.CancelFunc
	finished chan struct{}
	events   chan Event
	lock     *os.File

	// Only the holder of turn uses the fields below.
	unconfirmed bool   // it is unknown whether nginx.conf is in force: a reload was interrupted
	size        int64  // of nginx.conf, in bytes
	good        string // the name of the last confirmed file
	inherited   bool   // Stop also ends the nginx of a former run
	stuck       []int  // old workers that a reload waited for in vain

	mu          sync.Mutex
	run         *run
	longestLoad time.Duration // the longest time to read a file, in a test or a reload
	generations map[int]int   // the load of each worker, by pid
}

// New returns a Process that does nothing yet. status asks the workers over the
// control socket.
func New(install Install, o Options, status StatusFunc) *Process {
	life, end := context.WithCancel(context.Background())
	return &Process{
		install: install, options: o.withDefaults(), status: status,
		turn: make(chan struct{}, 1), life: life, end: end,
		events: make(chan Event, 16), generations: map[int]int{},
	}
}

// Install returns the nginx in use.
func (p *Process) Install() Install { return p.install }

// Events returns the channel of deaths and restarts. It is never closed. If nobody
// reads it, the oldest events are dropped.
func (p *Process) Events() <-chan Event { return p.events }

// Claim locks the state directory against other sluice processes until Stop, and
// removes incomplete files of a killed one. Call it before writing there; otherwise
// Start does it.
func (p *Process) Claim() error {
	if p.lock != nil {
		return nil
	}
	return errors.Join(p.lockState(), p.sweep())
}

// Start ends the processes of a former run, starts nginx with the bootstrap file, and
// returns once its workers have registered. If the file cannot be written, nothing is
// ended. From then on nginx is restarted whenever it ends, always with the bootstrap
// file. With Options.PIDFile, Start waits for the external nginx, which can be
// started with the bootstrap file in the state directory. Call Start once.
func (p *Process) Start(ctx context.Context, bootstrap []byte) error {
	if p.external() {
		return p.startExternal(ctx, bootstrap)
	}
	if err := p.take(ctx); err != nil {
		return err
	}
	defer p.release()
	if p.finished != nil {
		return errors.New("nginx was started already")
	}
	if err := p.Claim(); err != nil {
		return err
	}
	err := p.replace(bootstrapFile, Conf(bootstrap))
	if err == nil {
		err = p.launch(ctx, p.readRecord())
	}
	if err != nil {
		return errors.Join(err, p.unlockState())
	}
	p.finished = make(chan struct{})
	go p.supervise()
	return nil
}

// launch ends the processes of a record, starts a master with the bootstrap file and
// waits until it is live. It ends a master that does not come up.
func (p *Process) launch(ctx context.Context, former record) error {
	// This comes first, because the remains of a former nginx may still serve.
	if err := p.useBootstrap(); err != nil {
		return err
	}
	if err := p.endFormer(former); err != nil {
		return err
	}
	if err := p.clearSockets(); err != nil {
		return err
	}
	if err := p.sweepCaches(); err != nil {
		p.options.Logger.Warn("old caches are left", "error", err)
	}
	r, err := p.spawn()
	if err != nil {
		return err
	}
	p.setRun(r)
	began := time.Now()
	// Recorded at once, so that a crash during the start leaves no unknown process
	// behind.
	p.remember(r)
	if err := p.awaitFirst(ctx, r); err != nil {
		return errors.Join(err, p.endRun(r, p.recordOf(r)))
	}
	p.options.Logger.Info("nginx started", "pid", r.PID, "version", p.install.Version, "took", time.Since(began).Round(time.Millisecond))
	p.unconfirmed = false
	p.remember(r)
	return nil
}

// remember records what the next start needs. A failed write does not stop nginx from
// serving.
func (p *Process) remember(r *run) {
	if err := p.record(r); err != nil {
		p.options.Logger.Warn("the processes of nginx cannot be recorded", "error", err)
	}
}

// awaitFirst waits until all workers of a new master have registered.
func (p *Process) awaitFirst(ctx context.Context, r *run) error {
	ctx, cancel := context.WithTimeout(ctx, p.reloadTimeout())
	defer cancel()
	var last error
	err := poll(ctx, func() (bool, error) {
		if r.ended() {
			r.awaitLog()
			return false, fmt.Errorf("nginx did not start: %s", r.reason(0, r.cause))
		}
		c, err := p.census(ctx, r)
		last = err
		return err == nil && c.complete(0), nil
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("nginx did not start: its workers did not register within %v (%s)", p.reloadTimeout(), r.reason(0, fmt.Sprint(last)))
	}
	return err
}

// Running returns the pid of the master, 0 if there is none.
func (p *Process) Running() int {
	r := p.currentRun()
	if r == nil || r.ended() {
		return 0
	}
	return r.PID
}

// Stop ends nginx gracefully, and by force when grace is over or ctx ends. When it
// returns, no process of it is left. It does nothing to an external nginx, nor to one
// of a former run that was not inherited.
func (p *Process) Stop(ctx context.Context, grace time.Duration) error {
	p.end()
	if p.finished != nil {
		<-p.finished
	}
	if err := p.take(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	defer p.release()
	r := p.currentRun()
	if r == nil && p.inherited {
		return errors.Join(p.quitFormer(ctx, grace), p.unlockState())
	}
	if r == nil || p.external() {
		return p.unlockState()
	}
	record := p.recordOf(r)
	if r.signal(unix.SIGQUIT) == nil {
		ctx, cancel := context.WithTimeout(ctx, grace)
		defer cancel()
		select {
		case <-r.done:
		case <-ctx.Done():
			p.options.Logger.Warn("nginx still has requests after the grace period: ending it", "grace", grace)
		}
	}
	return errors.Join(p.endRun(r, record), p.unlockState())
}

// endRun ends all processes of a run and waits until its master is reaped. endFormer
// spares a master that does not look like nginx, such as a script, so endRun kills the
// process group of the master.
func (p *Process) endRun(r *run, rec record) error {
	if err := p.endFormer(rec); err != nil {
		return err
	}
	if !r.ended() {
		_ = unix.Kill(-r.PID, unix.SIGKILL)
	}
	select {
	case <-r.done:
		return nil
	case <-time.After(endsWithin):
		return fmt.Errorf("nginx (pid %d) cannot be ended", r.PID)
	}
}

func (p *Process) take(ctx context.Context) error {
	select {
	case p.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *Process) release() { <-p.turn }

func (p *Process) currentRun() *run {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.run
}

func (p *Process) setRun(r *run) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.run, p.generations = r, map[int]int{}
}

func (p *Process) noteLoad(took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.longestLoad = max(p.longestLoad, took)
}

// slowestLoad is longer than any nginx was measured to take for a byte of a file:
// Debian 12's takes 1.6 s for a megabyte.
const slowestLoad = 10 * time.Microsecond

// startTimeout is how long workers can take to come up after the file was read. nginx
// tries a port in use five times, half a second apart, before it gives up.
const startTimeout = 2500*time.Millisecond + 2*time.Second

// reloadTimeout implements Options.ReloadTimeout.
func (p *Process) reloadTimeout() time.Duration {
	if p.options.ReloadTimeout > 0 {
		return p.options.ReloadTimeout
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return startTimeout + max(3*p.longestLoad, time.Duration(p.size)*slowestLoad)
}
