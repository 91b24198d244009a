package nginx

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// ErrNotRunning is returned while there is no nginx to reload. It is started
// again by itself; an Event says when.
var ErrNotRunning = errors.New("nginx is not running")

// Conf is a configuration as bytes.
type Conf []byte

// WriteTo writes all of it.
func (c Conf) WriteTo(w io.Writer) (int64, error) {
	n, err := w.Write(c)
	return int64(n), err
}

// EventKind is what happened to nginx.
type EventKind string

// The kinds of event.
const (
	// Died: the master ended though nobody asked it to.
	Died EventKind = "Died"
	// Restarted: nginx runs the bootstrap file again. Its runtime state is
	// empty: the owner must push all of it and Apply.
	Restarted EventKind = "Restarted"
)

// Event is something that happened to nginx by itself.
type Event struct {
	Kind EventKind
	// Text is one line.
	Text string
}

// Process is an nginx that runs beside us, or one that something else runs
// (Options.PIDFile). Its methods may be called from several goroutines; Test,
// Apply and restarts take turns.
type Process struct {
	install Install
	options Options
	status  StatusFunc

	// turn is held by whoever writes in the state directory. aside ends a test that
	// gives way.
	turn  chan struct{}
	aside atomic.Pointer[context.CancelFunc]
	// life ends with Stop; finished is closed once nothing restarts nginx.
	life     context.Context
	end      context.CancelFunc
	finished chan struct{}
	events   chan Event
	lock     *os.File

	// The fields below are used only by the holder of turn.
	unconfirmed bool   // nginx.conf may run or not: a reload was interrupted
	size        int64  // of nginx.conf, in bytes
	good        string // the name of the file that was confirmed last
	inherited   bool   // Stop ends the nginx of a former run

	mu          sync.Mutex
	run         *run
	longestLoad time.Duration // that a file took to be read, by a test or a reload
	generations map[int]int   // pid of a worker: its load
}

// New makes a Process that does nothing yet. The status function asks the
// workers over the control socket.
func New(install Install, o Options, status StatusFunc) *Process {
	life, end := context.WithCancel(context.Background())
	return &Process{
		install: install, options: o.withDefaults(), status: status,
		turn: make(chan struct{}, 1), life: life, end: end,
		events: make(chan Event, 16), generations: map[int]int{},
	}
}

// Install is the nginx that is run.
func (p *Process) Install() Install { return p.install }

// Events tells of deaths and restarts. It is never closed; while nobody reads,
// the oldest events are dropped.
func (p *Process) Events() <-chan Event { return p.events }

// Claim makes sure that no other sluice works in the state directory, until
// Stop, and removes what one that was killed left half written. It comes before anything is written there; Start does it if need be.
func (p *Process) Claim() error {
	if p.lock != nil {
		return nil
	}
	return errors.Join(p.lockState(), p.sweep())
}

// Start ends what a former run left behind, starts nginx with the bootstrap
// file and returns once its workers have registered. Nothing is ended if the
// file cannot be written. From then on nginx is
// started again whenever it ends, always with the bootstrap file. With
// Options.PIDFile it waits for the other nginx, which can be started with the
// bootstrap file in the state directory. It is not to be called twice.
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

// launch ends the processes of a record, starts a master with the bootstrap file
// and waits until it is live. A master that does not come up is ended.
func (p *Process) launch(ctx context.Context, former record) error {
	// Before anything is ended: what is left of a former nginx may serve.
	if err := p.useBootstrap(); err != nil {
		return err
	}
	if err := p.endFormer(former); err != nil {
		return err
	}
	if err := p.clearSockets(); err != nil {
		return err
	}
	r, err := p.spawn()
	if err != nil {
		return err
	}
	p.setRun(r)
	began := time.Now()
	// Recorded at once, so that a crash of ours during the start leaves nobody
	// unknown behind.
	p.remember(r)
	if err := p.awaitFirst(ctx, r); err != nil {
		return errors.Join(err, p.endRun(r, p.recordOf(r)))
	}
	p.options.Logger.Info("nginx started", "pid", r.PID, "version", p.install.Version, "took", time.Since(began).Round(time.Millisecond))
	p.unconfirmed = false
	p.remember(r)
	return nil
}

// remember writes down what the next start needs. That it cannot be written
// keeps nobody from being served.
func (p *Process) remember(r *run) {
	if err := p.record(r); err != nil {
		p.options.Logger.Warn("the processes of nginx cannot be written down", "error", err)
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

// Running gives the pid of the master, 0 while there is none.
func (p *Process) Running() int {
	r := p.currentRun()
	if r == nil || r.ended() {
		return 0
	}
	return r.PID
}

// Stop ends nginx: gracefully, and when grace is over or ctx is done by force.
// When it returns no process of it is left. It does nothing to an nginx that
// something else runs, nor to one of a former run that was not inherited.
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

// endRun ends all processes of a run and waits until its master is reaped.
func (p *Process) endRun(r *run, rec record) error {
	if err := p.endFormer(rec); err != nil {
		return err
	}
	<-r.done
	return nil
}

func (p *Process) take(ctx context.Context) error {
	select {
	case p.turn <- struct{}{}:
		return nil
	default:
	}
	if giveWay := p.aside.Load(); giveWay != nil {
		(*giveWay)()
	}
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

// slowestLoad is longer than any nginx was seen to take for a byte of a file:
// Debian 12's takes 1.6 s for a megabyte.
const slowestLoad = 10 * time.Microsecond

// startTimeout is how long workers may take to come up once the file was read.
// nginx tries a port that is taken five times, half a second apart, before it
// gives up.
const startTimeout = 2500*time.Millisecond + 2*time.Second

// reloadTimeout is as Options.ReloadTimeout says.
func (p *Process) reloadTimeout() time.Duration {
	if p.options.ReloadTimeout > 0 {
		return p.options.ReloadTimeout
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return startTimeout + max(3*p.longestLoad, time.Duration(p.size)*slowestLoad)
}
