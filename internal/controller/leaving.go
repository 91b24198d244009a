package controller

import (
	"slices"
	"strings"
	"time"

	"sluice/internal/model"
)

// handshakes is how long certificates stay after the file that needed them:
// workers that drain take no new connection, they only finish handshakes.
const handshakes = 10 * time.Second

// leaving remembers what left the runtime state, for as long as workers may
// still ask for it: until a file that does without it is confirmed, and from
// then on for as long as workers of the file before drain.
type leaving struct{ parts []departed }

// departed is what one sync no longer wants.
type departed struct {
	// since is when the running file began to do without it; zero while that
	// file still needs it.
	since time.Time
	model.Dynamic
}

// note compares what was wanted before with what is wanted now.
func (l *leaving) note(before, now model.Dynamic) {
	gone := model.Dynamic{
		Backends:     missing(before.Backends, now.Backends, func(b *model.Backend) string { return b.Key }),
		Certificates: missing(before.Certificates, now.Certificates, func(c *model.Certificate) string { return c.ID }),
		Names:        missing(before.Names, now.Names, func(n model.CertificateName) string { return n.Host }),
	}
	if len(gone.Backends)+len(gone.Certificates)+len(gone.Names) > 0 {
		l.parts = append(l.parts, departed{Dynamic: gone})
	}
}

// confirmed says that nginx runs a file that needs none of what left so far.
func (l *leaving) confirmed(at time.Time) {
	for i := range l.parts {
		if l.parts[i].since.IsZero() {
			l.parts[i].since = at
		}
	}
}

// due is when with has to be asked next; ok is false if nothing waits for that.
func (l *leaving) due(drain time.Duration) (at time.Time, ok bool) {
	for _, part := range l.parts {
		if part.since.IsZero() {
			continue
		}
		until := part.since.Add(drain)
		if part.presented() {
			until = part.since.Add(min(drain, handshakes))
		}
		if !ok || until.Before(at) {
			at, ok = until, true
		}
	}
	return at, ok
}

// with adds what is still needed now to what is wanted, and forgets the rest.
func (l *leaving) with(wanted model.Dynamic, now time.Time, drain time.Duration) model.Dynamic {
	over := func(d departed, after time.Duration) bool {
		return !d.since.IsZero() && !now.Before(d.since.Add(after))
	}
	l.parts = slices.DeleteFunc(l.parts, func(d departed) bool { return over(d, drain) })
	for i, part := range l.parts {
		if over(part, handshakes) {
			l.parts[i].Certificates, l.parts[i].Names = nil, nil
		}
	}
	for _, part := range slices.Backward(l.parts) {
		wanted = model.Dynamic{
			Backends:     merged(wanted.Backends, part.Backends, func(b *model.Backend) string { return b.Key }),
			Certificates: merged(wanted.Certificates, part.Certificates, func(c *model.Certificate) string { return c.ID }),
			Names:        merged(wanted.Names, part.Names, func(n model.CertificateName) string { return n.Host }),
		}
	}
	return wanted
}

// presented reports whether it holds what only new connections ask for.
func (d departed) presented() bool { return len(d.Certificates)+len(d.Names) > 0 }

// missing gives the elements of before whose key now lacks; both are sorted by
// key.
func missing[T any](before, now []T, key func(T) string) []T {
	var gone []T
	for _, element := range before {
		for len(now) > 0 && key(now[0]) < key(element) {
			now = now[1:]
		}
		if len(now) == 0 || key(now[0]) != key(element) {
			gone = append(gone, element)
		}
	}
	return gone
}

// merged adds the elements whose key a lacks; the result is sorted by key.
func merged[T any](a, more []T, key func(T) string) []T {
	extra := missing(more, a, key)
	if len(extra) == 0 {
		return a
	}
	all := append(slices.Clone(a), extra...)
	slices.SortFunc(all, func(x, y T) int { return strings.Compare(key(x), key(y)) })
	return all
}
