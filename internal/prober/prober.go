// Package prober checks endpoints as the health checks of their backends ask. It takes a
// model.Dynamic. It returns one without the endpoints that fail, and a signal when these
// change:
//
//	p := prober.New(log)
//	go p.Run(ctx)
//	p.Use(d)
//	d = p.Apply(d)
//	<-p.Watch() // then apply again
//
// Package healthcheck decides about turns and states.
package prober

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"

	"sluice/internal/healthcheck"
	"sluice/internal/model"
)

// gather is the shortest time between two signals, because each one costs a push.
const gather = 250 * time.Millisecond

// Prober checks the endpoints in use. Each replica has its own, because each sees its own
// network.
type Prober struct {
	log     *slog.Logger
	client  *http.Transport
	changes chan struct{}
	wake    chan struct{}

	mu    sync.Mutex
	table *healthcheck.Table
	// changed is set until the next signal; last is the time of the last one.
	changed bool
	last    time.Time
	// logged is the number of failing endpoints in the last log line.
	logged int
}

// New returns a Prober, which asks nothing before Run.
func New(log *slog.Logger) *Prober { return dialling(log, new(net.Dialer).DialContext) }

func dialling(log *slog.Logger, dial dialer) *Prober {
	return &Prober{
		log:     log,
		client:  newTransport(dial),
		changes: make(chan struct{}, 1),
		wake:    make(chan struct{}, 1),
		table:   healthcheck.New(rand.Float64),
	}
}

// Watch signals that the result of Apply changes. Pending signals are combined.
func (p *Prober) Watch() <-chan struct{} { return p.changes }

// Use sets the endpoints in use to those of d. Those in use before keep their states.
func (p *Prober) Use(d model.Dynamic) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.table.Use(d, time.Now())
	signal(p.wake)
}

// Apply returns d without the endpoints that fail. d itself does not change.
func (p *Prober) Apply(d model.Dynamic) model.Dynamic {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.table.Apply(d)
}

// Troubles returns the checks that all endpoints of a backend of d fail, sorted, each once.
func (p *Prober) Troubles(d model.Dynamic) []healthcheck.Trouble {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.table.Troubles(d)
}

// Run checks the endpoints in use until ctx ends. It returns when all checks have ended.
func (p *Prober) Run(ctx context.Context) {
	var checks sync.WaitGroup
	defer checks.Wait()
	for {
		timer := time.NewTimer(p.start(ctx, &checks))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-p.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// start starts the checks that are due, and signals changes. It returns the time until
// there is more to do.
func (p *Prober) start(ctx context.Context, checks *sync.WaitGroup) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		now := time.Now()
		check, wait := p.table.Next(now)
		if check == nil {
			return min(wait, p.tell(now))
		}
		checks.Go(func() {
			failure := p.ask(ctx, check.Target())
			if ctx.Err() == nil {
				p.learn(check, failure)
			}
		})
	}
}

func (p *Prober) learn(check *healthcheck.Check, failure string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changed = p.table.Learn(check, failure, time.Now()) || p.changed
	signal(p.wake)
}

// tell signals a change unless the last signal is recent. It returns the time until it may.
func (p *Prober) tell(now time.Time) time.Duration {
	if !p.changed {
		return time.Hour
	}
	if wait := p.last.Add(gather).Sub(now); wait > 0 {
		return wait
	}
	p.changed, p.last = false, now
	if failing := p.table.Failing(); failing != p.logged {
		p.log.Info("the number of endpoints that fail their health checks changed", "failing", failing, "before", p.logged)
		p.logged = failing
	}
	signal(p.changes)
	return time.Hour
}

func signal(to chan struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}
