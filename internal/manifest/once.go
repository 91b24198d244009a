package manifest

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"

	"sluice/internal/snapshot"
)

// Once holds the real paths of the files that several sources have read. Their folders
// can overlap.
type Once map[string]bool

// LoadOnce is Load without the files in read, to which it adds the others. The source must
// not be watched. It can be a pipe, such as a shell's "<(helm template .)".
func (s *Source) LoadOnce(ctx context.Context, read Once) (snapshot.Loaded, error) {
	s.mu.Lock()
	s.once = read
	if info, err := os.Stat(s.root); err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeCharDevice) != 0 {
		s.stream, s.readStream = s.path, func() ([]byte, error) { return readWhole(s.root, info) }
	}
	s.mu.Unlock()
	return s.Load(ctx)
}

// unread returns the files that no source has read, and records them.
func (o Once) unread(paths []string) []string {
	if o == nil {
		return paths
	}
	var left, reals []string
	for _, path := range paths {
		real, err := filepath.EvalSymlinks(path)
		if err != nil || !o[real] { // reading it reports the error
			left, reals = append(left, path), append(reals, real)
		}
	}
	for _, real := range reals {
		o[real] = true
	}
	delete(o, "")
	return left
}
