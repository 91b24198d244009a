// Package election elects one of several replicas as the leader: the one that holds a
// Lease. Only the leader writes data that all replicas share, such as the status of
// Ingresses.
//
// It takes the name of the Lease and the identity of the replica. It reports whether
// the replica leads, at each moment:
//
//	elector := election.New(election.Options{Client: client, Lease: lease, Identity: podName, TTL: 30 * time.Second, Log: log})
//	go elector.Run(ctx)
//	go statuses.Run(ctx, elector)
//
// On exit, cancel the context of Run last, after all work of the leader has ended.
// Run then releases the Lease, so that another replica can lead at once.
//
// The algorithm is that of client-go's leaderelection, which needs the typed
// clientset (see docs/decisions/0007-small-client.md). A replica leads until half the
// TTL has passed since it started to write its last confirmed renewal. Others take
// the Lease when they have seen no renewal for the whole TTL, by their own clocks. So
// clocks need not agree. Two replicas never lead at once if their clocks run equally
// fast, even while the API server is unavailable.
package election

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"sluice/internal/kube"
	"sluice/internal/snapshot"
)

// DefaultTTL is how long a Lease that is not renewed keeps others from leading.
const DefaultTTL = 30 * time.Second

// releaseTimeout limits the release of the Lease on exit.
const releaseTimeout = 5 * time.Second

// Options configure an Elector.
type Options struct {
	Client *kube.Client
	// Lease is named by --election-id, in the pod's namespace.
	Lease snapshot.Name
	// Identity is the name of the pod; no two replicas may share one.
	Identity string
	// TTL is --election-ttl; zero or less means DefaultTTL.
	TTL time.Duration
	Log *slog.Logger
}

// Elector competes for one Lease. Use New. Its methods are safe for concurrent use,
// but call Run only once.
type Elector struct {
	Options

	// Only Run's goroutine uses these. lease is the Lease as last returned by the API
	// server, nil if that is not known. seen is when its renewal was first seen, by
	// our clock.
	lease   *coordinationv1.Lease
	seen    time.Time
	trouble string

	mu      sync.Mutex
	until   time.Time // this replica leads until then
	leads   bool      // the state last sent to the channels of Changes
	holder  string
	changes []chan struct{}
}

// New returns an Elector that does not lead.
func New(o Options) *Elector {
	if o.TTL <= 0 {
		o.TTL = DefaultTTL
	}
	return &Elector{Options: o}
}

// IsLeader reports whether this replica leads. It checks the clock, so that a blocked
// goroutine cannot prolong the leadership.
func (e *Elector) IsLeader() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return time.Now().Before(e.until)
}

// LeaderIdentity is the holder of the Lease, as far as known: the name of a pod, or
// empty. Use it for log lines.
func (e *Elector) LeaderIdentity() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.holder
}

// Changes returns a new channel for each caller. It receives when IsLeader may have
// changed; several changes can be combined.
func (e *Elector) Changes() <-chan struct{} {
	c := make(chan struct{}, 1)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.changes = append(e.changes, c)
	return c
}

// Run competes for the Lease and renews it until ctx ends. Then it stops leading and
// releases the Lease.
func (e *Elector) Run(ctx context.Context) {
	for {
		e.logOnce(e.turn(ctx))
		select {
		case <-time.After(e.pause()):
		case <-ctx.Done():
			e.release()
			return
		}
	}
}

// deadline is how long a renewal is valid for the leader itself. retry is the
// interval of renewals and attempts.
func (e *Elector) deadline() time.Duration { return e.TTL / 2 }
func (e *Elector) retry() time.Duration    { return e.TTL / 4 }

// pause returns the time until the next turn. A leader whose renewal failed retries
// sooner, and never waits beyond the end of its term. Other replicas wait up to a
// fifth longer at random, so that they do not all try at once.
func (e *Elector) pause() time.Duration {
	if !e.IsLeader() {
		return e.retry() + rand.N(e.retry()/5+1)
	}
	pause := e.retry()
	if e.trouble != "" {
		pause = e.retry()/8 + rand.N(e.retry()/8+1)
	}
	return max(0, min(pause, time.Until(e.leadsUntil())))
}

// turn acquires or renews the Lease. It ends when the leadership ends.
func (e *Elector) turn(ctx context.Context) error {
	start := time.Now()
	e.lead(e.leadsUntil())
	end := start.Add(e.deadline())
	if e.IsLeader() {
		end = e.leadsUntil()
	}
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	held, err := e.hold(ctx)
	switch {
	case held:
		e.lead(start.Add(e.deadline()))
	case err == nil:
		e.lead(time.Time{}) // another replica holds it
	default:
		e.lead(e.leadsUntil())
	}
	return err
}

func (e *Elector) leadsUntil() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.until
}

// lead stores until when this replica leads and who holds the Lease, and signals a
// change.
func (e *Elector) lead(until time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.until = until
	if holder := e.holderNow(); holder != e.holder {
		e.holder = holder
		e.Log.Info("leader", "identity", holder, "lease", e.Lease.String())
	}
	leads := time.Now().Before(until)
	if leads == e.leads {
		return
	}
	e.leads = leads
	e.Log.Info("leadership", "leads", leads, "identity", e.Identity, "lease", e.Lease.String())
	for _, c := range e.changes {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// logOnce logs an error once, and its end. The end of the context is not an error.
func (e *Elector) logOnce(err error) {
	text := ""
	if err != nil && !errors.Is(err, context.Canceled) {
		text = err.Error()
	}
	if text == e.trouble {
		return
	}
	e.trouble = text
	if text == "" {
		e.Log.Info("mended: election", "lease", e.Lease.String())
		return
	}
	e.Log.Error("election", "lease", e.Lease.String(), "error", text, "leads", e.IsLeader())
}

// Fixed is the result of an election without a Lease. With --disable-leader-election,
// no replica writes status and every replica writes events.
type Fixed bool

// IsLeader returns the fixed result.
func (f Fixed) IsLeader() bool { return bool(f) }

// Changes returns nil, a channel that never receives.
func (f Fixed) Changes() <-chan struct{} { return nil }
