package manifest

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"

	"sluice/internal/snapshot"
)

// Once are the files that several sources have read, by their real paths, where their
// folders may overlap.
type Once map[string]bool

// LoadOnce is Load without the files that another source has read; it notes those that
// it reads. It is for a source that is not watched, which may then be a pipe, such as
// one that a shell makes of "<(helm template .)".
func (s *Source) LoadOnce(ctx context.Context, read Once) (snapshot.Loaded, error) {
	s.mu.Lock()
	s.once = read
	if info, err := os.Stat(s.root); err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeCharDevice) != 0 {
		s.stream, s.readStream = s.path, func() ([]byte, error) { return readWhole(s.root, info) }
	}
	s.mu.Unlock()
	return s.Load(ctx)
}

// unread leaves out the files that another source has read.
func (o Once) unread(paths []string) []string {
	if o == nil {
		return paths
	}
	var left, reals []string
	for _, path := range paths {
		real, err := filepath.EvalSymlinks(path)
		if err != nil || !o[real] { // reading it tells what is wrong
			left, reals = append(left, path), append(reals, real)
		}
	}
	for _, real := range reals {
		o[real] = true
	}
	delete(o, "")
	return left
}
