package events

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// kept holds the events that were written, and those that are due.
type kept struct {
	entries map[subject]*entry
	objects map[types.UID]*rate.Limiter
	// dropped is the number of Problems of the latest report for which there was no
	// room.
	dropped int
}

// subject identifies an event: a Problem of an object. The uid tells an object from a
// later one of the same name.
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

	stands      bool      // the latest report has the Problem
	stoodBefore bool      // the report before it had it too
	since       time.Time // when the Problem first appeared
	reported    bool      // its event was written since then
	written     bool      // the API server probably has the event
	count       int32
	writtenAt   time.Time
	due         time.Time // when to write it next; zero for never
	failures    int

	// ended is the entry of the Problem whose end this event reports; nil for the
	// event of a Problem itself.
	ended *entry
}

// take updates the entries from a report. New and returning Problems become due.
func (k *kept) take(r *report, now time.Time) {
	for _, e := range k.entries {
		e.stoodBefore, e.stands = e.stands, false
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
		if e.ended == nil && !e.stands && e.stoodBefore {
			e.due = time.Time{}
			if of := find(r, e.problem.Object); of.known && of.uid == e.uid && e.reported && !fields()[field{e.problem.Object, e.problem.Field}] {
				k.end(e, now)
			}
		}
		if !e.stands && e.due.IsZero() && now.Sub(e.writtenAt) > forgetAfter {
			delete(k.entries, key)
		}
	}
	k.forgetObjects()
}

// object describes the object of a Problem.
type object struct {
	uid     types.UID
	version string
	// known is set if the object exists and can have events.
	known bool
}

func find(r *report, ref model.ObjectRef) object {
	if _, ok := versions[ref.Kind]; !ok {
		return object{}
	}
	uid, version, ok := r.lookup(ref)
	return object{uid, version, ok}
}

// fieldsOf returns a function that returns the fields of all Problems of known
// objects. It computes them on the first call, because most Problems stay.
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

// field is the object and the field of a Problem.
type field struct {
	object model.ObjectRef
	name   string
}

// stand records that a Problem exists. A new Problem is due after a while. A Problem
// whose end was not reported yet counts as never gone.
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
		if e.reported = end != nil && !end.due.IsZero(); e.reported {
			end.due, e.due = time.Time{}, e.writtenAt.Add(repeatAfter)
		}
	}
	e.problem, e.uid, e.version, e.stands = p, of.uid, of.version, true
}

// end schedules the event that reports the end of a Problem.
func (k *kept) end(e *entry, now time.Time) {
	p := mended(e.problem)
	key := subject{p, e.uid}
	end := k.entries[key]
	if end == nil {
		if len(k.entries) >= mostKept {
			e.reported = false
			return
		}
		end = &entry{name: nameOf(p, e.uid), ended: e}
		k.entries[key] = end
	}
	end.problem, end.uid, end.version, end.ended, end.due = p, e.uid, e.version, e, now.Add(settled)
}

// forgetObjects drops the limits of objects without entries. An object that returns
// starts again, after an hour at the earliest.
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

// begin makes all lasting Problems due: another replica may have led before, and its
// events are not known.
func (k *kept) begin(now time.Time) {
	for _, e := range k.entries {
		e.written, e.reported, e.failures = false, false, 0
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

// next returns the entry that is due first, nil if there is none.
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
