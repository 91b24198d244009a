package events

import (
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// kept is what is known of the events that were written, or are to be.
type kept struct {
	entries map[snapshot.Name]*entry
	objects map[types.UID]*rate.Limiter
	// dropped is how many Problems found no room, the last time that they came.
	dropped int
}

// entry is the event of one Problem.
type entry struct {
	name    snapshot.Name
	problem model.Problem
	uid     types.UID
	version string

	stands   bool // the Problem was there at the last sync
	written  bool // the API server has the event, as far as is known
	count    int32
	said     time.Time
	due      time.Time // when it is said next; zero for never
	failures int
}

// take takes over the Problems as they are now. Those that came, or came back,
// are due.
func (k *kept) take(r *report, now time.Time) {
	for _, e := range k.entries {
		e.stands = false
	}
	k.dropped = 0
	for _, p := range r.problems {
		uid, version, ok := r.lookup(p.Object)
		if _, known := versions[p.Object.Kind]; !ok || !known {
			continue
		}
		k.stand(p, uid, version, now)
	}
	for name, e := range k.entries {
		if !e.stands {
			e.due = time.Time{}
		}
		if !e.stands && now.Sub(e.said) > forgetAfter {
			delete(k.entries, name)
		}
	}
	k.forgetObjects()
}

// stand takes note that a Problem is there.
func (k *kept) stand(p model.Problem, uid types.UID, version string, now time.Time) {
	name := nameOf(p, uid)
	e := k.entries[name]
	if e == nil {
		if len(k.entries) >= mostKept {
			k.dropped++
			return
		}
		e = &entry{name: name, due: now}
		k.entries[name] = e
	}
	if e.due.IsZero() {
		e.due = now
	}
	e.problem, e.uid, e.version, e.stands = p, uid, version, true
}

// forgetObjects drops the limits of objects that nothing is kept of. One that
// comes back begins anew, an hour later at the earliest.
func (k *kept) forgetObjects() {
	if len(k.objects) == 0 {
		return
	}
	held := map[types.UID]bool{}
	for _, e := range k.entries {
		held[e.uid] = true
	}
	for uid := range k.objects {
		if !held[uid] {
			delete(k.objects, uid)
		}
	}
}

// begin has everything said that stands: another may have led until now, and
// what it said is not known.
func (k *kept) begin(now time.Time) {
	for _, e := range k.entries {
		e.written, e.failures = false, 0
		if e.stands {
			e.due = now
		}
	}
}

// next gives the entry that is due first, nil if none is.
func (k *kept) next() *entry {
	var first *entry
	for _, e := range k.entries {
		if !e.due.IsZero() && (first == nil || e.due.Before(first.due) || e.due.Equal(first.due) && before(e, first)) {
			first = e
		}
	}
	return first
}

func before(a, b *entry) bool {
	return a.problem.Object.Compare(b.problem.Object) < 0 || a.problem.Object == b.problem.Object && a.name.Name < b.name.Name
}

// allows reports whether another event of an object may be written.
func (k *kept) allows(uid types.UID, now time.Time) bool {
	limiter := k.objects[uid]
	if limiter == nil {
		limiter = rate.NewLimiter(rate.Every(objectEvery), objectBurst)
		k.objects[uid] = limiter
	}
	return limiter.AllowN(now, 1)
}
