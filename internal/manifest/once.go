package manifest

import (
	"context"
	"path/filepath"
	"slices"

	"sluice/internal/snapshot"
)

// Once are the files that several sources have read, by their real paths, where their
// folders may overlap.
type Once map[string]bool

// LoadOnce is Load without the files that another source has read; it notes those that
// it reads. It is for a source that is not watched.
func (s *Source) LoadOnce(ctx context.Context, read Once) (snapshot.Loaded, error) {
	s.mu.Lock()
	s.once = read
	s.mu.Unlock()
	return s.Load(ctx)
}

// unread leaves out the files that another source has read.
func (o Once) unread(paths []string) []string {
	if o == nil {
		return paths
	}
	return slices.DeleteFunc(paths, func(path string) bool {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return false // reading it tells
		}
		before := o[real]
		o[real] = true
		return before
	})
}
