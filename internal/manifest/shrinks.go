package manifest

import (
	"io/fs"
	"os"
	"time"
)

// A file that is written in place has fewer objects for a moment. What disappears
// counts when the file has said the same for quietSpell, or when it has had fewer
// for longestSpell, however often it changes.
const (
	quietSpell   = time.Second
	longestSpell = 5 * time.Second
)

// shrinks is a file that may be in the midst of being written in place.
type shrinks struct {
	enabled bool
	// info is of the file as it was seen last, whatever it held.
	info fs.FileInfo
	// since is when it was first seen with fewer objects, changed when it was last
	// seen to change; both zero while it has as many.
	since, changed time.Time
}

// sameFile reports whether it is the file that was seen last, and not another one
// of its name.
func (s *shrinks) sameFile(info fs.FileInfo) bool {
	before := s.info
	s.info = info
	return s.enabled && before != nil && info != nil && os.SameFile(before, info)
}

// wait says whether what the file says now does not count yet. fewer is set if it
// has fewer objects than count, same if it says what it said last time.
func (s *shrinks) wait(fewer, same bool) bool {
	now := time.Now()
	switch {
	case !fewer:
		s.since, s.changed = time.Time{}, time.Time{}
		return false
	case s.since.IsZero():
		s.since, s.changed = now, now
	case !same:
		s.changed = now
	}
	if s.left() > 0 {
		return true
	}
	s.since, s.changed = time.Time{}, time.Time{}
	return false
}

// left is how long it still has to wait, 0 if it does not.
func (s *shrinks) left() time.Duration {
	if s.since.IsZero() {
		return 0
	}
	return max(0, min(time.Until(s.changed.Add(quietSpell)), time.Until(s.since.Add(longestSpell))))
}

// lookAgain has a file looked at after a while, by the signal that Watch gives.
func (s *Source) lookAgain(path string, wait time.Duration) {
	signals := s.signals.Load()
	if signals == nil {
		return
	}
	time.AfterFunc(max(wait, time.Millisecond), func() {
		s.pending.file(path)
		select {
		case *signals <- struct{}{}:
		default:
		}
	})
}
