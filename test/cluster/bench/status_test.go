package bench

import (
	"sync"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"sluice/test/bench/measure"
	"sluice/test/kit"
)

// published is an address of documentation that Ingresses get as their status.
// Source: https://www.rfc-editor.org/rfc/rfc5737
const published = "203.0.113.10"

// statusPatience bounds the wait for all statuses.
const statusPatience = 5 * time.Minute

// written is what was measured of a sluice that writes statuses.
type written struct {
	// all is from the start of sluice until all Ingresses have a status.
	all float64
	// add are the Ingresses that were added meanwhile, and quiet those that were
	// when no status was written.
	add, quiet delays
}

// statuses starts a sluice beside the units that are there, none of which has a
// status, and adds Ingresses while it writes.
func (w *work) statuses(quiet delays) written {
	w.b.Helper()
	w.prepare(roundsOfDelays)
	r := w.watchStatuses()
	s := w.launch("--publish-status-address", published)
	s.await(w.n-1, measure.Served)
	kit.Await(w.b, "the line of the first reload", func() bool { return s.reloads() > 0 })
	reloads, added := s.reloads(), w.added
	result := written{quiet: quiet}
	for range roundsOfDelays {
		d := result.add
		if s.add(&d); r.complete() {
			break // some of this one's time nothing was written
		}
		result.add = d
	}
	select {
	case <-r.all:
	case <-time.After(statusPatience):
		w.b.Fatalf("after %v there are %d Ingresses without a status", statusPatience, r.missing())
	}
	result.all = r.since.Sub(s.began).Seconds()
	if more := s.reloadsAtRest() - reloads; more != w.added-added {
		w.b.Errorf("%d reloads for the %d Ingresses that were added while statuses were written", more, w.added-added)
	}
	s.end()
	return result
}

// register notes which Ingresses have no status yet.
type register struct {
	mu      sync.Mutex
	without map[string]bool
	// all is closed when there is none any more, at the time of since.
	all   chan struct{}
	since time.Time
}

// watchStatuses watches the statuses of the Ingresses of the first n units.
func (w *work) watchStatuses() *register {
	w.b.Helper()
	r := &register{without: map[string]bool{}, all: make(chan struct{})}
	for i := range w.n {
		r.without[measure.Host(i)] = true
	}
	informer := informers.NewSharedInformerFactory(w.clients, 0).Networking().V1().Ingresses().Informer()
	handler, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: r.see, UpdateFunc: func(_, o any) { r.see(o) }})
	if err != nil {
		w.b.Fatal(err)
	}
	go informer.RunWithContext(w.b.Context())
	if !cache.WaitForCacheSync(w.b.Context().Done(), handler.HasSynced) {
		w.b.Fatal("the Ingresses cannot be watched")
	}
	if r.missing() != w.n {
		w.b.Fatalf("%d Ingresses have a status before one is written", w.n-r.missing())
	}
	return r
}

func (r *register) see(o any) {
	ing := o.(*networkingv1.Ingress)
	list := ing.Status.LoadBalancer.Ingress
	if len(list) != 1 || list[0].IP != published {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	host := ing.Spec.Rules[0].Host
	if !r.without[host] {
		return
	}
	delete(r.without, host)
	if len(r.without) == 0 {
		r.since = time.Now()
		close(r.all)
	}
}

func (r *register) missing() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.without)
}

func (r *register) complete() bool { return r.missing() == 0 }
