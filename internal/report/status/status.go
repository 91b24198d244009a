// Package status writes the addresses of Ingresses into their
// status.loadBalancer.ingress.
//
// It takes the served Ingresses after each confirmed sync, and a source of addresses.
// The leader writes a status to the API server if it differs.
//
//	statuses := status.New(status.Options{
//		Client:  client,
//		Source:  status.OfService(client, publishService), // or OfList, or OfNodes
//		Ingress: informers.Ingress,
//		Interval: time.Minute,
//		Log: log,
//	})
//	go statuses.Run(ctx, elector)     // never with --update-status=false
//	statuses.Served(served)           // after each confirmed sync; does not wait
//	statuses.Recheck()                // an informer saw that a status changed
//	statuses.Refresh()                // an informer saw that the published Service changed
//	statuses.Shutdown(timeout)        // on exit, before the contexts of Run and of the elector end
//
// The list is written by server-side apply with its own field manager.
// loadBalancer.ingress is an atomic list, so the applier owns the whole list and
// replaces the entries of others. If only `update` is granted, as in ingress-nginx's
// ClusterRole, the status is read, changed and updated instead; its field manager is
// then the beginning of the client's UserAgent.
package status

import (
	"log/slog"
	"slices"
	"sync"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"

	"sluice/internal/kube"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// FieldManager is our name in the managedFields of an Ingress.
const FieldManager = "sluice"

// Limits of Options.Interval, as for --status-update-interval.
const (
	DefaultInterval = time.Minute
	LeastInterval   = 5 * time.Second
)

// Options configure Statuses.
type Options struct {
	Client *kube.Client
	// Source gives the addresses: OfList, OfService or OfNodes.
	Source Source
	// Replicas are the pods of this deployment, for Shutdown. Without them, the
	// status stays on exit.
	Replicas *Replicas
	// Ingress returns an Ingress as the informer knows it now, nil if it is gone. It
	// is called from several goroutines and must not block. Only uid, resourceVersion
	// and status are read; the object is not modified.
	Ingress func(snapshot.Name) *networkingv1.Ingress
	// Interval is how often addresses are read and all statuses compared.
	Interval time.Duration
	// Changed is called from another goroutine when Problems changed. It can be nil.
	Changed func()
	Log     *slog.Logger
}

// Leader tells whether this replica leads; election.Elector implements it. Other
// replicas write nothing.
type Leader interface {
	IsLeader() bool
	Changes() <-chan struct{}
}

// Served is an Ingress that nginx serves.
type Served struct {
	Name snapshot.Name
	UID  types.UID
	// Ports are the ports of the Ingress, each with the error if its listener could
	// not be opened; see Ports.
	Ports []networkingv1.IngressPortStatus
}

// Ports returns the ports of an Ingress: the HTTP port, and the HTTPS port if it
// names hosts or certificates for TLS. These are ports of the addresses, such as 80
// and 443, which can differ from those that nginx listens on. An error is a CamelCase
// word with a domain prefix, such as sluice.io/Refused.
func Ports(ing *networkingv1.Ingress, http, https networkingv1.IngressPortStatus) []networkingv1.IngressPortStatus {
	if len(ing.Spec.TLS) == 0 {
		return []networkingv1.IngressPortStatus{http}
	}
	return []networkingv1.IngressPortStatus{http, https}
}

// Errors of ports on which an Ingress is not served as written: nginx rejects the
// Ingress, so its last good form or nothing is served; or its protection is wrong, so
// its paths return 503.
const (
	Refused = "sluice.io/Refused"
	Denied  = "sluice.io/Denied"
)

// Statuses writes the status of Ingresses. Use New. Its methods are safe for
// concurrent use.
type Statuses struct {
	Options
	leader Leader

	// wake receives when there is something new to compare.
	wake chan struct{}
	work chan snapshot.Name

	mu        sync.Mutex
	latest    []Served // the latest list
	taken     bool     // latest has been turned into entries
	entries   map[snapshot.Name]*entry
	addresses []Address
	stale     bool // the addresses need to be read again
	stopping  bool
	inFlight  sync.WaitGroup
	problems  []model.Problem
	// updating maps a namespace in which a patch was forbidden to when that was.
	updating   map[string]time.Time
	complaints map[string]*complaint
}

// New returns Statuses that write nothing before Run.
func New(o Options) *Statuses {
	if o.Interval <= 0 {
		o.Interval = DefaultInterval
	}
	o.Interval = max(o.Interval, LeastInterval)
	return &Statuses{
		Options: o, wake: make(chan struct{}, 1), work: make(chan snapshot.Name),
		entries: map[snapshot.Name]*entry{}, updating: map[string]time.Time{}, complaints: map[string]*complaint{},
	}
}

// Served replaces the list of served Ingresses. The list is complete and must not
// change afterwards. Other Ingresses are left alone. Most syncs serve the same
// Ingresses as before, and then nothing is compared.
func (s *Statuses) Served(list []Served) {
	s.mu.Lock()
	known := slices.EqualFunc(list, s.latest, sameServed)
	if !known {
		s.latest, s.taken = list, false
	}
	s.mu.Unlock()
	if !known {
		s.Recheck()
	}
}

func sameServed(a, b Served) bool {
	return a.Name == b.Name && a.UID == b.UID && slices.EqualFunc(a.Ports, b.Ports, samePort)
}

// Recheck compares all statuses at once instead of after the interval. Call it when
// an informer saw a changed status.
func (s *Statuses) Recheck() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Refresh reads the addresses at once instead of after the interval. Call it when an
// informer saw that the published Service changed.
func (s *Statuses) Refresh() {
	s.mu.Lock()
	s.stale = true
	s.mu.Unlock()
	s.Recheck()
}

// Problems returns a Problem for each Ingress whose status is not written because
// another writer keeps changing it back.
func (s *Statuses) Problems() []model.Problem {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.problems)
}
