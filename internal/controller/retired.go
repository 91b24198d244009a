package controller

import (
	"context"
	"maps"
	"slices"
	"time"

	"sluice/internal/model"
	"sluice/internal/render"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// handshakes is how long certificates stay after the file that needed them: draining
// workers accept no new connections and only finish handshakes. Their names do not stay.
const handshakes = 10 * time.Second

// together is the unit to which the times of removal are rounded up, so that items that
// left at about the same time are removed at once.
const together = 5 * time.Second

// retired holds the items that left the runtime state, for as long as workers may still
// need them: until a file without them is confirmed, and then while workers of the file
// before drain. Until that confirmation, backends get the endpoints of the newest
// objects.
type retired struct {
	backends     retiredItems[*model.Backend]
	certificates retiredItems[*model.Certificate]
	// presented are the certificates without a name, which nginx presents to backends.
	presented retiredItems[*model.Certificate]
	names     retiredItems[model.CertificateName]
	users     retiredItems[*model.UserFile]
	trust     retiredItems[render.TrustFile]
	// renamed is set if names have ended that nginx may still hold.
	renamed bool
	// drained is when the workers of all former files have ended.
	drained time.Time
}

// retiredItems are the items of one kind, by key.
type retiredItems[T any] map[string]retiredItem[T]

// retiredItem is an item that is not in the plan of this number.
type retiredItem[T any] struct {
	element T
	plan    int
	// since is when nginx began to run that plan or a later one; zero until then.
	since time.Time
	// drain is how long after since workers of former files may need the item.
	drain time.Duration
}

func backendKey(b *model.Backend) string { return b.Key }

func certificateKey(c *model.Certificate) string { return c.ID }

func nameKey(n model.CertificateName) string { return n.Host }

func usersKey(f *model.UserFile) string { return f.ID }

func trustKey(f render.TrustFile) string { return f.Path }

// note records the items that a plan no longer has.
func (l *retired) note(before, now model.Dynamic, plan int) {
	l.backends.note(missing(before.Backends, now.Backends, backendKey), plan, backendKey)
	for _, gone := range missing(before.Certificates, now.Certificates, certificateKey) {
		list := &l.presented
		if slices.ContainsFunc(before.Names, func(n model.CertificateName) bool { return n.ID == gone.ID }) {
			list = &l.certificates
		}
		list.note([]*model.Certificate{gone}, plan, certificateKey)
	}
	l.names.note(missing(before.Names, now.Names, nameKey), plan, nameKey)
	l.users.note(missing(before.Users, now.Users, usersKey), plan, usersKey)
}

func (d *retiredItems[T]) note(gone []T, plan int, key func(T) string) {
	if *d == nil {
		*d = retiredItems[T]{}
	}
	for _, element := range gone {
		(*d)[key(element)] = retiredItem[T]{element: element, plan: plan}
	}
}

// renew replaces the backends that nginx still runs with by their renewed ones, and
// reports whether any differs.
func (l *retired) renew(renewed func(*model.Backend) *model.Backend) (changed bool) {
	for key, gone := range l.backends {
		if !gone.since.IsZero() {
			continue
		}
		if now := renewed(gone.element); now != gone.element {
			gone.element, changed = now, true
			l.backends[key] = gone
		}
	}
	return changed
}

// renewRetired gives retired backends the endpoints of a plan's objects, and reports
// whether any changed. It looks only at Services that changed since the latest plan,
// which did the same.
func (c *Controller) renewRetired(p *plan) bool {
	if len(c.retired.backends) == 0 {
		return false
	}
	touched := map[snapshot.Name]bool{}
	for _, service := range p.snap.Since(c.latest.snap).Services {
		touched[service] = true
	}
	renewed := translate.Renewer(p.snap, c.Translate)
	return c.retired.renew(func(b *model.Backend) *model.Backend {
		if !touched[snapshot.Name{Namespace: b.Target.Namespace, Name: b.Target.Name}] {
			return b
		}
		return renewed(b)
	})
}

// confirmed records that nginx runs the plan of a number, and so needs nothing that
// left with that plan or an earlier one. The workers of the plan before drain for at most
// drain. It reports whether that is new for any item in nginx's memory. Names end at once: a
// host is never served with the certificate of who had it before.
func (l *retired) confirmed(plan int, at time.Time, drain time.Duration) (freed bool) {
	if end := at.Add(drain); end.After(l.drained) {
		l.drained = end
	}
	drain = l.drained.Sub(at)
	freed = l.backends.confirmed(plan, at, drain)
	freed = l.certificates.confirmed(plan, at, min(drain, handshakes)) || freed
	freed = l.presented.confirmed(plan, at, drain) || freed
	if l.names.confirmed(plan, at, 0) {
		l.names.forget()
		freed, l.renamed = true, true
	}
	l.users.confirmed(plan, at, drain)
	l.trust.confirmed(plan, at, 0)
	return freed
}

// forget drops the items that left with a confirmed plan.
func (d retiredItems[T]) forget() {
	maps.DeleteFunc(d, func(_ string, gone retiredItem[T]) bool { return !gone.since.IsZero() })
}

func (d retiredItems[T]) confirmed(plan int, at time.Time, drain time.Duration) (freed bool) {
	for key, gone := range d {
		if gone.plan <= plan && gone.since.IsZero() {
			gone.since, gone.drain = at, drain
			d[key], freed = gone, true
		}
	}
	return freed
}

// due returns when with must be called next; ok is false if nothing waits for that.
func (l *retired) due() (at time.Time, ok bool) {
	for _, next := range []time.Time{l.backends.due(), l.certificates.due(), l.presented.due(), l.users.due(), l.trust.due()} {
		if !next.IsZero() && (!ok || next.Before(at)) {
			at, ok = next, true
		}
	}
	return at, ok
}

// due returns the zero time if nothing is due.
func (d retiredItems[T]) due() (first time.Time) {
	for _, gone := range d {
		if end := gone.end(); !end.IsZero() && (first.IsZero() || end.Before(first)) {
			first = end
		}
	}
	return first
}

// end returns when the item can be removed, zero if that is not known yet.
func (d retiredItem[T]) end() time.Time {
	if d.since.IsZero() {
		return time.Time{}
	}
	end := d.since.Add(d.drain)
	if rounded := end.Truncate(together); rounded.Before(end) {
		return rounded.Add(together)
	}
	return end
}

// with adds the items that are still needed to those that are wanted, and forgets the
// others.
func (l *retired) with(wanted model.Dynamic, now time.Time) model.Dynamic {
	l.backends.drop(now)
	l.certificates.drop(now)
	l.presented.drop(now)
	l.users.drop(now)
	l.trust.drop(now)
	return l.and(wanted)
}

// and adds all retired items to those that are wanted.
func (l *retired) and(wanted model.Dynamic) model.Dynamic {
	return model.Dynamic{
		Backends:     merged(wanted.Backends, l.backends, backendKey),
		Certificates: merged(merged(wanted.Certificates, l.certificates, certificateKey), l.presented, certificateKey),
		Names:        merged(wanted.Names, l.names, nameKey),
		Users:        merged(wanted.Users, l.users, usersKey),
		Stapling:     wanted.Stapling,
		TicketKey:    wanted.TicketKey,
	}
}

func (d retiredItems[T]) drop(now time.Time) {
	for key, gone := range d {
		if end := gone.end(); !end.IsZero() && !now.Before(end) {
			delete(d, key)
		}
	}
}

// retain removes the runtime state and files that no worker needs any more.
func (c *Controller) retain(ctx context.Context) {
	kept := c.retired.with(c.wanted, time.Now())
	if err := c.Runtime.Retain(ctx, c.use(kept)(kept)); err != nil && ctx.Err() == nil {
		c.Log.Warn("old endpoints and certificates not removed", "error", err)
	}
	if err := c.Process.RetainUsers(kept.Users); err != nil {
		c.Log.Warn("old user files not removed", "error", err)
	}
	c.swept, c.trustLeft = true, true
	c.retainTrust()
	c.dropLater()
}

// unname removes the names that have ended from nginx's memory, before anything else goes.
func (c *Controller) unname(ctx context.Context) {
	if !c.retired.renamed {
		return
	}
	c.retired.renamed = false
	kept := c.retired.and(c.wanted)
	if err := c.Runtime.Replace(ctx, c.use(kept)(kept)); err != nil && ctx.Err() == nil {
		c.Log.Warn("old names of certificates not removed", "error", err)
	}
}

// dropLater schedules the next retain.
func (c *Controller) dropLater() {
	c.drop = nil
	switch at, ok := c.retired.due(); {
	case ok:
		c.drop = time.After(time.Until(at))
	case !c.swept:
		c.drop = time.After(c.latest.drain)
	}
}

// missing returns the elements of before whose key now lacks. Both are sorted by key.
func missing[T comparable](before, now []T, key func(T) string) []T {
	var none T
	var gone []T
	for was, is := range paired(before, now, by(key)) {
		if is == none {
			gone = append(gone, was)
		}
	}
	return gone
}

// merged adds the retired elements whose key a lacks. a and the result are sorted by key.
func merged[T comparable](a []T, more retiredItems[T], key func(T) string) []T {
	if len(more) == 0 {
		return a
	}
	extra := make([]T, 0, len(more))
	for _, gone := range more {
		extra = append(extra, gone.element)
	}
	slices.SortFunc(extra, by(key))
	var none T
	all := make([]T, 0, len(a)+len(extra))
	for element, gone := range paired(a, extra, by(key)) {
		if element == none {
			element = gone
		}
		all = append(all, element)
	}
	return all
}
