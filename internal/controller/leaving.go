package controller

import (
	"slices"
	"strings"
	"time"

	"sluice/internal/model"
)

// leaving remembers what left the runtime state, for as long as workers of an
// earlier configuration may still ask for it.
type leaving struct{ parts []departed }

// departed is what one sync no longer wants.
type departed struct {
	at time.Time
	model.Dynamic
}

// note compares what was wanted before with what is wanted now.
func (l *leaving) note(before, now model.Dynamic, at time.Time) {
	gone := model.Dynamic{
		Backends:     missing(before.Backends, now.Backends, func(b *model.Backend) string { return b.Key }),
		Certificates: missing(before.Certificates, now.Certificates, func(c *model.Certificate) string { return c.ID }),
		Names:        missing(before.Names, now.Names, func(n model.CertificateName) string { return n.Host }),
	}
	if len(gone.Backends)+len(gone.Certificates)+len(gone.Names) > 0 {
		l.parts = append(l.parts, departed{at: at, Dynamic: gone})
	}
}

// with adds what left after a time to what is wanted now, and forgets what left
// before. more reports whether something will still have to be dropped.
func (l *leaving) with(now model.Dynamic, after time.Time) (kept model.Dynamic, more bool) {
	l.parts = slices.DeleteFunc(l.parts, func(d departed) bool { return d.at.Before(after) })
	for _, part := range slices.Backward(l.parts) {
		now = model.Dynamic{
			Backends:     merged(now.Backends, part.Backends, func(b *model.Backend) string { return b.Key }),
			Certificates: merged(now.Certificates, part.Certificates, func(c *model.Certificate) string { return c.ID }),
			Names:        merged(now.Names, part.Names, func(n model.CertificateName) string { return n.Host }),
		}
	}
	return now, len(l.parts) > 0
}

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
