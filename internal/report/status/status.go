// Package status writes where Ingresses are reached: their
// status.loadBalancer.ingress.
//
// What goes in are the Ingresses that are served, after each confirmed sync, and
// where the addresses come from; what comes out are writes to the API server,
// by the leader only, and only where the status is another.
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
// The list is written by server-side apply with a field manager of its own.
// The API has loadBalancer.ingress as an atomic list: whoever applies it owns it
// as a whole, so what others put into it is replaced. Where only `update` is
// granted, as by ingress-nginx's ClusterRole, the status is read, changed
// and updated instead, and belongs to the name that begins the client's UserAgent.
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

// FieldManager is who writes, as managedFields of an Ingress names it.
const FieldManager = "sluice"

// Limits of Options.Interval, as --status-update-interval has them.
const (
	DefaultInterval = time.Minute
	LeastInterval   = 5 * time.Second
)

// Options say what is written, and where to.
type Options struct {
	Client *kube.Client
	// Source gives the addresses: OfList, OfService or OfNodes.
	Source Source
	// Replicas are the pods of this deployment, for Shutdown. Without them the
	// status is left as it is on exit.
	Replicas *Replicas
	// Ingress gives an Ingress as the informer knows it now, nil if it is gone.
	// It is called from several goroutines and must not wait. Of the object only
	// uid, resourceVersion and status are read; nothing is changed.
	Ingress func(snapshot.Name) *networkingv1.Ingress
	// Interval is how often addresses are read and everything is compared again.
	Interval time.Duration
	// Changed is called, from another goroutine, when Problems changed; nil for
	// nobody.
	Changed func()
	Log     *slog.Logger
}

// Leader tells whether this replica leads; election.Elector is one. Nothing is
// written by those who do not.
type Leader interface {
	IsLeader() bool
	Changes() <-chan struct{}
}

// Served is an Ingress that nginx serves.
type Served struct {
	Name snapshot.Name
	UID  types.UID
	// Ports are those that it is served on, each with the reason if its listener
	// could not be opened; see Ports.
	Ports []networkingv1.IngressPortStatus
}

// Ports gives the ports of an Ingress: that of HTTP, and that of HTTPS if it
// names hosts or certificates for TLS. They are the ports of the addresses, such
// as 80 and 443, which are not always those that nginx listens on. An error is a
// CamelCase word, with a domain before it, such as Refused.
func Ports(ing *networkingv1.Ingress, http, https networkingv1.IngressPortStatus) []networkingv1.IngressPortStatus {
	if len(ing.Spec.TLS) == 0 {
		return []networkingv1.IngressPortStatus{http}
	}
	return []networkingv1.IngressPortStatus{http, https}
}

// The errors of ports on which an Ingress is not served: nginx refuses what it
// says, so that its last good form is served, or nothing; or something that
// protects its paths is wrong, so that they answer 503.
const (
	Refused = "sluice.io/Refused"
	Denied  = "sluice.io/Denied"
)

// Statuses writes the status of Ingresses. Use New. Its methods may be called
// from several goroutines.
type Statuses struct {
	Options
	leader Leader

	// wake has something to read when there is something new to look at.
	wake chan struct{}
	work chan snapshot.Name

	mu        sync.Mutex
	latest    []Served // as they came last
	taken     bool     // entries are made of latest
	entries   map[snapshot.Name]*entry
	addresses []Address
	stale     bool // the addresses are to be read again
	stopping  bool
	inFlight  sync.WaitGroup
	problems  []model.Problem
	// updating says in which namespaces a patch was forbidden, and when.
	updating map[string]time.Time
	said     map[string]*complaint
}

// New gives Statuses that write nothing before Run.
func New(o Options) *Statuses {
	if o.Interval <= 0 {
		o.Interval = DefaultInterval
	}
	o.Interval = max(o.Interval, LeastInterval)
	return &Statuses{
		Options: o, wake: make(chan struct{}, 1), work: make(chan snapshot.Name),
		entries: map[snapshot.Name]*entry{}, updating: map[string]time.Time{}, said: map[string]*complaint{},
	}
}

// Served takes the Ingresses that are served now: all of them, each time. The
// list is kept and must not be changed afterwards. Others are left alone. Most
// syncs serve what was served before, and then nothing is compared.
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

// Recheck has everything compared at once rather than after the interval: an
// informer saw that a status changed.
func (s *Statuses) Recheck() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Refresh has the addresses read at once rather than after the interval: an
// informer saw that the published Service changed.
func (s *Statuses) Refresh() {
	s.mu.Lock()
	s.stale = true
	s.mu.Unlock()
	s.Recheck()
}

// Problems are the Ingresses that are not written because another writer
// changes them back.
func (s *Statuses) Problems() []model.Problem {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.problems)
}
