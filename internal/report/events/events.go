// Package events tells the owners of objects about Problems where they look:
// by events, which `kubectl describe` shows.
//
// What goes in are the Problems of each sync; what comes out is an event of type
// Warning for each new one. By the leader only, as every replica finds the same.
//
//	recorder := events.New(events.Options{Client: client, Instance: podName, Log: log})
//	go recorder.Run(ctx, elector)  // election.Fixed(true) with --disable-leader-election
//	recorder.Problems(problems, func(o model.ObjectRef) (types.UID, string, bool) { ... })
//
// The name of an event is made of the object's uid and the Problem, so that a
// Problem has one event, whoever leads: what is said again counts it up.
package events

import (
	"context"
	"log/slog"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"sluice/internal/kube"
	"sluice/internal/model"
)

// Component is who reports, as events name it.
const Component = "sluice"

// Options say where events go.
type Options struct {
	Client *kube.Client
	// Instance is the name of the pod.
	Instance string
	Log      *slog.Logger
}

// Leader tells whether this replica leads; election.Elector is one.
type Leader interface {
	IsLeader() bool
	Changes() <-chan struct{}
}

// Lookup gives the uid and the resourceVersion of an object; false if it is not
// known, and then there is no event. It is called later, from another goroutine:
// the indexes of a Snapshot do.
type Lookup func(model.ObjectRef) (uid types.UID, resourceVersion string, ok bool)

// Recorder writes events. Use New. Its methods may be called from several
// goroutines.
type Recorder struct {
	Options

	wake chan struct{}

	mu       sync.Mutex
	incoming *report
}

// report are the Problems of one sync.
type report struct {
	problems []model.Problem
	lookup   Lookup
}

// New gives a Recorder that writes nothing before Run.
func New(o Options) *Recorder {
	return &Recorder{Options: o, wake: make(chan struct{}, 1)}
}

// Problems takes the Problems as they are now: all of them, each time. It copies
// the list and does not wait.
func (r *Recorder) Problems(problems []model.Problem, lookup Lookup) {
	r.mu.Lock()
	r.incoming = &report{append([]model.Problem{}, problems...), lookup}
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Run writes until ctx ends. It is called once.
func (r *Recorder) Run(ctx context.Context, leader Leader) {
}
