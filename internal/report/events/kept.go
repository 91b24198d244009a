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

	stands   bool      // the Problem was there at the last sync
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
	stood := map[*entry]bool{}
	for _, e := range k.entries {
		stood[e], e.stands = e.stands, false
	}
	k.dropped = 0
	fields := map[field]bool{}
	for _, p := range r.problems {
		uid, version, ok := r.lookup(p.Object)
		if _, known := versions[p.Object.Kind]; !ok || !known {
			continue
		}
		fields[field{p.Object, p.Field}] = true
		k.stand(p, uid, version, now)
	}
	for name, e := range k.entries {
		switch {
		case e.ended != nil || e.stands:
		case stood[e]:
			e.due = time.Time{}
			if uid, _, ok := r.lookup(e.problem.Object); ok && uid == e.uid && e.told && !fields[field{e.problem.Object, e.problem.Field}] {
				k.end(e, now)
			}
		}
		if !e.stands && e.due.IsZero() && now.Sub(e.said) > forgetAfter {
			delete(k.entries, name)
		}
	}
	k.forgetObjects()
}

// field is where a Problem is.
type field struct {
	object model.ObjectRef
	name   string
}

// stand takes note that a Problem is there. One that comes is said after a while,
// if it is there then. One whose end was not told yet never went.
func (k *kept) stand(p model.Problem, uid types.UID, version string, now time.Time) {
	name := nameOf(p, uid)
	e := k.entries[name]
	if e == nil {
		if len(k.entries) >= mostKept {
			k.dropped++
			return
		}
		e = &entry{name: name, due: now.Add(settled), since: now}
		k.entries[name] = e
	}
	if e.due.IsZero() {
		e.due, e.since = now.Add(settled), now
		end := k.entries[nameOf(mended(e.problem), uid)]
		if e.told = end != nil && !end.due.IsZero(); e.told {
			end.due, e.due = time.Time{}, e.said.Add(repeatAfter)
		}
	}
	e.problem, e.uid, e.version, e.stands = p, uid, version, true
}

// end has it told that a Problem that was told is not there any more.
func (k *kept) end(e *entry, now time.Time) {
	p := mended(e.problem)
	name := nameOf(p, e.uid)
	end := k.entries[name]
	if end == nil {
		if len(k.entries) >= mostKept {
			e.told = false
			return
		}
		end = &entry{name: name, ended: e}
		k.entries[name] = end
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
