// Package election has one of several replicas lead: the one that holds a Lease.
// Only the leader writes what is written once for all of them, such as the status
// of Ingresses.
//
// What goes in is the Lease's name and who asks for it; what comes out is whether
// it leads, at each moment:
//
//	elector := election.New(election.Options{Client: client, Lease: lease, Identity: podName, TTL: 30 * time.Second, Log: log})
//	go elector.Run(ctx)
//	go statuses.Run(ctx, elector)
//
// On exit the context of Run ends last, when nothing that a leader does is done
// any more: Run then releases the Lease, so that another may lead at once.
//
// The algorithm is that of client-go's leaderelection, which the typed clientset
// comes with (see docs/decisions/0007-small-client.md). A replica leads until half
// the TTL has passed since it began to write the renewal that was confirmed last;
// others take the Lease when they have seen no renewal for the whole TTL, by their
// own clocks. So clocks need not agree, and two never lead at once as long as
// they run equally fast, whether or not the API server is there.
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

// releaseTimeout bounds how long an exit waits for the Lease to be released.
const releaseTimeout = 5 * time.Second

// Options say what is asked for, and by whom.
type Options struct {
	Client *kube.Client
	// Lease is named by --election-id, in the pod's namespace.
	Lease snapshot.Name
	// Identity is the name of the pod; no two replicas may share one.
	Identity string
	// TTL is --election-ttl; what is not positive stands for DefaultTTL.
	TTL time.Duration
	Log *slog.Logger
}

// Elector asks for one Lease. Use New. Its methods may be called from several
// goroutines, but Run once only.
type Elector struct {
	Options

	// Only Run's goroutine touches these. lease is as the API server last gave
	// it, nil if that is not known; its renewal was seen at seen, by our clock.
	lease   *coordinationv1.Lease
	seen    time.Time
	trouble string

	mu      sync.Mutex
	until   time.Time // this replica leads until then
	leads   bool      // what was last told to those who wait for changes
	holder  string
	changes []chan struct{}
}

// New gives an Elector that does not lead.
func New(o Options) *Elector {
	if o.TTL <= 0 {
		o.TTL = DefaultTTL
	}
	return &Elector{Options: o}
}

// IsLeader reports whether this replica leads. It looks at the clock: nobody is
// leader because the goroutine that should have said otherwise was held up.
func (e *Elector) IsLeader() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return time.Now().Before(e.until)
}

// LeaderIdentity is who holds the Lease, as far as is known: the name of a pod,
// or empty. It is for log lines.
func (e *Elector) LeaderIdentity() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.holder
}

// Changes gives a channel of its own to each caller. It receives when IsLeader
// may have changed; several changes may come as one.
func (e *Elector) Changes() <-chan struct{} {
	c := make(chan struct{}, 1)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.changes = append(e.changes, c)
	return c
}

// Run asks for the Lease, renews it and asks for it again if it was lost, until
// ctx ends. Then it stops leading and releases the Lease.
func (e *Elector) Run(ctx context.Context) {
	for {
		e.say(e.turn(ctx))
		select {
		case <-time.After(e.pause()):
		case <-ctx.Done():
			e.release()
			return
		}
	}
}

// deadline is how long a renewal lasts for the leader itself; retry is how often
// it is renewed, and asked for.
func (e *Elector) deadline() time.Duration { return e.TTL / 2 }
func (e *Elector) retry() time.Duration    { return e.TTL / 4 }

// pause is the time to the next turn. A leader that could not renew tries sooner
// again, and does not wait longer than it leads. Those who do not lead wait up to
// a fifth longer, so that they do not all ask at once.
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

// turn asks for the Lease or renews it. It ends when the leadership does.
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
		e.lead(time.Time{}) // another holds it
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

// lead takes over until when this replica leads, who holds the Lease, and tells
// those who wait for changes.
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

// say logs an error once, and its end too. That the context ended is none.
func (e *Elector) say(err error) {
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

// Fixed is an election without a Lease: it is decided. With
// --disable-leader-election no replica writes status, and each writes events.
type Fixed bool

// IsLeader reports what was decided.
func (f Fixed) IsLeader() bool { return bool(f) }

// Changes gives a channel that never receives.
func (f Fixed) Changes() <-chan struct{} { return nil }
