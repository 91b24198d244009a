// Package events writes Problems as Kubernetes events, so that `kubectl describe`
// shows them to the owners of the objects.
//
// It takes the Problems of each sync. It writes a Warning for each new Problem that
// lasts, and a Normal event when the Problem is fixed. Only the leader writes,
// because every replica finds the same Problems.
//
//	recorder := events.New(events.Options{Client: client, Instance: podName, Log: log})
//	go recorder.Run(ctx, elector)  // election.Fixed(true) with --disable-leader-election
//	recorder.Problems(problems, func(o model.ObjectRef) (types.UID, string, bool) { ... })
//
// The name of an event depends on the uid of the object and on the Problem. So each
// Problem has one event, whichever replica leads, and repeating it increases its
// count.
package events

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"sluice/internal/kube"
	"sluice/internal/model"
)

// Component is the reporting component of the events.
const Component = "sluice"

// Options configure a Recorder.
type Options struct {
	Client *kube.Client
	// Instance is the name of the pod.
	Instance string
	Log      *slog.Logger
}

// Leader tells whether this replica leads; election.Elector implements it.
type Leader interface {
	IsLeader() bool
	Changes() <-chan struct{}
}

// Lookup returns the uid and the resourceVersion of an object, and false if the
// object is not known; then no event is written. It is called later from another
// goroutine, so it must be safe for that, as the indexes of a Snapshot are.
type Lookup func(model.ObjectRef) (uid types.UID, resourceVersion string, ok bool)

// The limits.
const (
	// settled is how long a Problem has to exist, or be gone, before it is reported.
	// So an Ingress that is created just before its Service causes no event.
	settled = 2 * time.Second
	// repeatAfter is the interval at which a lasting Problem is reported again: the
	// API server deletes events after an hour.
	repeatAfter = 50 * time.Minute
	// forgetAfter is how long a reported Problem is remembered after its end. If it
	// returns before that, its event is counted up.
	forgetAfter = time.Hour
	// Limits for all events together, and for those of one object.
	perSecond, burst         = 10, 100
	objectEvery, objectBurst = 5 * time.Minute, 25
	// mostKept is the maximum number of entries, to bound memory.
	mostKept = 10_000

	writeTimeout        = 10 * time.Second
	leastWait, mostWait = 10 * time.Second, 10 * time.Minute
	complainAtMostEvery = time.Minute
)

// Recorder writes events. Use New. Its methods may be called from several
// goroutines.
type Recorder struct {
	Options

	wake chan struct{}

	mu       sync.Mutex
	incoming *report
	// last is the latest list of Problems, if there is one.
	last  []model.Problem
	taken bool

	// Only Run's goroutine touches these.
	kept      kept
	limiter   *rate.Limiter
	postponed int // events postponed since the last log line about it
	saidLimit time.Time
	troubled  bool
	trouble   metav1.StatusReason // the reason of the last logged error
}

// report are the Problems of one sync.
type report struct {
	problems []model.Problem
	lookup   Lookup
}

// New returns a Recorder that writes nothing before Run.
func New(o Options) *Recorder {
	return &Recorder{
		Options: o, wake: make(chan struct{}, 1), limiter: rate.NewLimiter(perSecond, burst),
		kept: kept{entries: map[subject]*entry{}, objects: map[types.UID]*rate.Limiter{}},
	}
}

// Problems replaces the current Problems. The list is complete, sorted as by
// model.SortProblems, and must not change afterwards. Problems does not block.
func (r *Recorder) Problems(problems []model.Problem, lookup Lookup) {
	r.mu.Lock()
	same := r.taken && model.SameProblems(r.last, problems)
	r.taken, r.last = true, problems
	if !same {
		r.incoming = &report{problems, lookup}
	}
	r.mu.Unlock()
	if same {
		return
	}
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Run writes events until ctx ends. Call it once.
func (r *Recorder) Run(ctx context.Context, leader Leader) {
	changes := leader.Changes()
	for ctx.Err() == nil {
		r.take()
		pause := mostWait
		if leader.IsLeader() {
			pause = r.turn(ctx)
		}
		if pause <= 0 {
			continue
		}
		select {
		case <-time.After(pause):
		case <-r.wake:
		case <-changes:
			r.kept.begin(time.Now())
		case <-ctx.Done():
		}
	}
}

// take moves the latest report into kept.
func (r *Recorder) take() {
	r.mu.Lock()
	incoming := r.incoming
	r.incoming = nil
	r.mu.Unlock()
	if incoming != nil {
		now := time.Now()
		r.kept.take(incoming, now)
		if r.kept.dropped > 0 {
			r.logLimits(now)
		}
	}
}

// turn writes the event that is due, and returns the time until the next turn.
func (r *Recorder) turn(ctx context.Context) time.Duration {
	e := r.kept.next()
	if e == nil {
		return mostWait
	}
	now := time.Now()
	if e.due.After(now) {
		return e.due.Sub(now)
	}
	if r.limiter.TokensAt(now) < 1 {
		return time.Second / perSecond
	}
	if !r.kept.allows(e.uid, now) {
		r.postponed++
		r.logLimits(now)
		e.due = now.Add(objectEvery)
		return 0
	}
	r.limiter.AllowN(now, 1)
	r.finish(ctx, e, r.write(ctx, e))
	return 0
}

// logLimits logs at intervals how many events are postponed or dropped.
func (r *Recorder) logLimits(now time.Time) {
	if !r.saidLimit.IsZero() && now.Sub(r.saidLimit) < complainAtMostEvery {
		return
	}
	r.Log.Warn("events wait: an object has too many of them, or there are too many Problems", "postponed", r.postponed, "dropped", r.kept.dropped)
	r.saidLimit, r.postponed = now, 0
}

// write creates the event or increases its count. It needs the permissions `create`
// and `patch` only.
func (r *Recorder) write(ctx context.Context, e *entry) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	if e.written {
		err := r.again(ctx, e, e.count+1)
		if !apierrors.IsNotFound(err) {
			return err
		}
		e.written = false // the API server has deleted it
	}
	err := r.Client.Create(ctx, kube.Events, r.event(e, metav1.Now()))
	if apierrors.IsAlreadyExists(err) {
		// The previous leader has written it. The answer to the patch has its count,
		// because reading events is not granted.
		return r.again(ctx, e, 0)
	}
	if err == nil {
		e.written, e.count = true, 1
	}
	return err
}

// again reports a Problem that lasts or returned. A count of 0 keeps the count of the
// event.
func (r *Recorder) again(ctx context.Context, e *entry, count int32) error {
	body, err := json.Marshal(struct {
		Count         int32       `json:"count,omitempty"`
		LastTimestamp metav1.Time `json:"lastTimestamp"`
	}{count, metav1.Now()})
	if err != nil {
		return err
	}
	var after corev1.Event
	err = r.Client.Patch(ctx, kube.Events, kube.Patch{Name: e.name, Type: types.MergePatchType, Body: body}, &after)
	if err == nil {
		e.written, e.count = true, after.Count
	}
	return err
}

// finish sets when the entry is due next, after a write that returned err.
func (r *Recorder) finish(ctx context.Context, e *entry, err error) {
	now := time.Now()
	switch {
	case ctx.Err() != nil:
		return
	case err == nil, apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause), apierrors.IsNotFound(err):
		// A deleted object needs no event.
		e.writtenAt, e.due, e.failures, e.reported = now, now.Add(repeatAfter), 0, true
		if e.ended != nil {
			e.due, e.ended.reported = time.Time{}, false
		}
		if err == nil && r.troubled {
			r.troubled = false
			r.Log.Info("mended: events")
		}
		return
	}
	e.due = now.Add(min(leastWait<<min(e.failures, 10), mostWait))
	e.failures++
	if kind := apierrors.ReasonForError(err); !r.troubled || kind != r.trouble {
		r.troubled, r.trouble = true, kind
		r.Log.Error("an event is not written; it is tried again", "object", e.problem.Object.String(), "error", err)
	}
}
