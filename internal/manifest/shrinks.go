package manifest

import (
	"io/fs"
	"os"
	"time"
)

// A file that is written in place has fewer objects for a moment. Missing objects count
// as deleted when the file has not changed for quietSpell, or when it has had fewer for
// longestSpell.
const (
	quietSpell   = time.Second
	longestSpell = 5 * time.Second
)

// shrinks delays the deletion of objects from a file that may be written in place.
type shrinks struct {
	// enabled is set if the source is watched, so that Load is called again.
	enabled bool
	// info is that of the last version, valid or not.
	info fs.FileInfo
	// since is when the file first had fewer objects, changed when it last changed; both
	// are zero unless it has fewer.
	since, changed time.Time
}

// sameFile reports whether the file is the last one, and not a new one of the same name.
func (s *shrinks) sameFile(info fs.FileInfo) bool {
	before := s.info
	s.info = info
	return s.enabled && before != nil && info != nil && os.SameFile(before, info)
}

// wait reports whether to keep the previous objects for now. fewer is set if the file has
// fewer objects than these, same if it has not changed since the last call.
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

// left returns the remaining delay, 0 for none.
func (s *shrinks) left() time.Duration {
	if s.since.IsZero() {
		return 0
	}
	return max(0, min(time.Until(s.changed.Add(quietSpell)), time.Until(s.since.Add(longestSpell))))
}

// lookAgain signals after a delay that Load has to read a file again.
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
