package events

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// kept is what is known of the events that were written, or are to be.
type kept struct {
	entries map[subject]*entry
	objects map[types.UID]*rate.Limiter
	// dropped is how many Problems found no room, the last time that they came.
	dropped int
}

// subject is what an event tells of: a Problem of an object, which may be made anew
// by the same name.
type subject struct {
	problem model.Problem
	uid     types.UID
}

// entry is the event of one Problem.
type entry struct {
	name    snapshot.Name
	problem model.Problem
	uid     types.UID
	version string

	stands   bool      // the Problem was there at the last sync
	stood    bool      // and at the one before
	since    time.Time // when it came
	told     bool      // its event was written since it came
	written  bool      // the API server has the event, as far as is known
	count    int32
	said     time.Time
	due      time.Time // when it is said next; zero for never
	failures int

	// ended is the Problem whose end this tells; nil for a Problem's own entry.
	ended *entry
}

// take takes over the Problems as they are now. Those that came, or came back,
// are due.
func (k *kept) take(r *report, now time.Time) {
	for _, e := range k.entries {
		e.stood, e.stands = e.stands, false
	}
	k.dropped = 0
	var of object
	for i, p := range r.problems {
		if i == 0 || p.Object != r.problems[i-1].Object {
			of = find(r, p.Object)
		}
		if of.known {
			k.stand(p, of, now)
		}
	}
	fields := fieldsOf(r)
	for key, e := range k.entries {
		if e.ended == nil && !e.stands && e.stood {
			e.due = time.Time{}
			if of := find(r, e.problem.Object); of.known && of.uid == e.uid && e.told && !fields()[field{e.problem.Object, e.problem.Field}] {
				k.end(e, now)
			}
		}
		if !e.stands && e.due.IsZero() && now.Sub(e.said) > forgetAfter {
			delete(k.entries, key)
		}
	}
	k.forgetObjects()
}

// object is what is known of the object of Problems.
type object struct {
	uid     types.UID
	version string
	// known is set if it is there and can have events.
	known bool
}

func find(r *report, ref model.ObjectRef) object {
	if _, ok := versions[ref.Kind]; !ok {
		return object{}
	}
	uid, version, ok := r.lookup(ref)
	return object{uid, version, ok}
}

// fieldsOf gives where the Problems are, of objects that are known. It is found out
// when it is first asked for, as most Problems stay.
func fieldsOf(r *report) func() map[field]bool {
	return sync.OnceValue(func() map[field]bool {
		fields := map[field]bool{}
		for _, p := range r.problems {
			if find(r, p.Object).known {
				fields[field{p.Object, p.Field}] = true
			}
		}
		return fields
	})
}

// field is where a Problem is.
type field struct {
	object model.ObjectRef
	name   string
}

// stand takes note that a Problem is there. One that comes is said after a while,
// if it is there then. One whose end was not told yet never went.
func (k *kept) stand(p model.Problem, of object, now time.Time) {
	key := subject{p, of.uid}
	e := k.entries[key]
	if e == nil {
		if len(k.entries) >= mostKept {
			k.dropped++
			return
		}
		e = &entry{name: nameOf(p, of.uid), due: now.Add(settled), since: now}
		k.entries[key] = e
	}
	if e.due.IsZero() {
		e.due, e.since = now.Add(settled), now
		end := k.entries[subject{mended(e.problem), of.uid}]
		if e.told = end != nil && !end.due.IsZero(); e.told {
			end.due, e.due = time.Time{}, e.said.Add(repeatAfter)
		}
	}
	e.problem, e.uid, e.version, e.stands = p, of.uid, of.version, true
}

// end has it told that a Problem that was told is not there any more.
func (k *kept) end(e *entry, now time.Time) {
	p := mended(e.problem)
	key := subject{p, e.uid}
	end := k.entries[key]
	if end == nil {
		if len(k.entries) >= mostKept {
			e.told = false
			return
		}
		end = &entry{name: nameOf(p, e.uid), ended: e}
		k.entries[key] = end
	}
	end.problem, end.uid, end.version, end.ended, end.due = p, e.uid, e.version, e, now.Add(settled)
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
		e.written, e.told, e.failures = false, false, 0
		switch {
		case e.stands:
			e.due = later(now, e.since.Add(settled))
		default:
			e.due = time.Time{}
		}
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
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
