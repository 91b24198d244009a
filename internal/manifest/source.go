// Package manifest is a source of objects: a directory of YAML and JSON files,
// one file, or the standard input.
//
// It takes a path. It returns the current objects of its files (Load), and one combined
// signal when they may have changed (Watch). A file with an error keeps its previous
// objects; if it never had any, its valid documents count. An emptied file counts as an
// error too, because a command such as "kubectl get ... > file" first empties the file. To
// remove objects, delete the file or their documents. With Watch, documents that disappear
// from a file count as deleted when it has not changed for a second, because it may be
// written in place.
//
//	source, err := manifest.Open("manifests", log)
//	changes, err := source.Watch(ctx)
//	for range changes {
//		result, err := source.Load(ctx)
//		...
//	}
package manifest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/util/workqueue"

	"sluice/internal/manifest/decode"
	"sluice/internal/snapshot"
)

// Stdin is the path of the standard input.
const Stdin = "-"

// Source provides the objects of a directory, a file or the standard input. Use Open. Its
// methods are safe for concurrent use.
type Source struct {
	path string // as it was given
	root string // the same, absolute
	log  *slog.Logger

	// The name of the standard input or of a pipe, which is read once to its end by
	// readStream. The name is empty for files.
	stream     string
	readStream func() ([]byte, error)

	pending pending
	// signals is the channel of Watch, nil without it.
	signals atomic.Pointer[chan struct{}]

	mu    sync.Mutex
	files map[string]*file // by path
	order []string         // the paths of files, sorted; nil if they have changed
	errs  []error          // of directories that could not be read
	once  Once             // set by LoadOnce
}

// Open prepares a source. path is a directory, which is read with its subdirectories, a
// file, or "-". It fails if path does not exist.
func Open(path string, log *slog.Logger) (*Source, error) {
	s := &Source{path: path, log: log, files: map[string]*file{}}
	if path == Stdin {
		s.stream, s.readStream = "stdin", func() ([]byte, error) { return io.ReadAll(os.Stdin) }
		return s, nil
	}
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("manifests: %w", err)
	}
	root, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("manifests: %w", err)
	}
	s.root = root
	return s, nil
}

// Load reads the changed files and returns all objects. It fails only if the path itself
// cannot be read; the state stays as it was then. The standard input is read once.
func (s *Source) Load(ctx context.Context) (snapshot.Loaded, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream != "" {
		return s.loadStream(ctx)
	}
	paths, everything := s.pending.take()
	look := s.lookAtAll
	if !everything {
		look = func(ctx context.Context) error { return s.lookAt(ctx, paths) }
	}
	if err := look(ctx); err != nil {
		s.pending.everything()
		return snapshot.Loaded{}, err
	}
	return s.gather(), nil
}

// lookAtAll lists the tree and refreshes every file.
func (s *Source) lookAtAll(ctx context.Context) error {
	found, err := list(s.root, func(string) {})
	if err != nil {
		return fmt.Errorf("manifests: %w", err)
	}
	present := s.readAll(ctx, s.once.unread(found.files))
	if err := ctx.Err(); err != nil {
		return err
	}
	s.errs = found.errs
	maps.DeleteFunc(s.files, func(path string, _ *file) bool { return !present[path] && !found.hides(path) })
	s.order = nil
	return nil
}

// lookAt refreshes the files that the watch recorded, and no others.
func (s *Source) lookAt(ctx context.Context, paths []string) error {
	present := s.readAll(ctx, paths)
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, path := range paths {
		if !present[path] {
			delete(s.files, path)
			s.order = nil
		}
	}
	return nil
}

func (s *Source) loadStream(ctx context.Context) (snapshot.Loaded, error) {
	f := s.file(s.stream)
	if !f.known {
		data, err := s.readToEnd(ctx)
		if err != nil {
			return snapshot.Loaded{}, fmt.Errorf("manifests: read %s: %w", s.stream, err)
		}
		f.name = s.stream
		f.take(data, nil)
	}
	return s.gather(), nil
}

// readToEnd reads the stream to its end, or until ctx ends, because a terminal may not end.
func (s *Source) readToEnd(ctx context.Context) ([]byte, error) {
	type input struct {
		data []byte
		err  error
	}
	done := make(chan input, 1)
	go func() {
		data, err := s.readStream()
		done <- input{data, err}
	}()
	select {
	case all := <-done:
		return all.data, all.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// file returns the state of a file, and creates it if necessary.
func (s *Source) file(path string) *file {
	f := s.files[path]
	if f == nil {
		f = &file{name: s.display(path), reader: decode.Reader{Each: each}}
		s.files[path] = f
		s.order = nil
	}
	return f
}

// display returns a path as the user would write it.
func (s *Source) display(path string) string {
	relative, err := filepath.Rel(s.root, path)
	if err != nil {
		return path
	}
	return filepath.Join(s.path, relative)
}

// readAll refreshes files concurrently. It returns those that exist.
func (s *Source) readAll(ctx context.Context, paths []string) map[string]bool {
	states := make([]*file, len(paths))
	for i, path := range paths {
		states[i] = s.file(path)
		states[i].shrinks.enabled = s.pending.watching()
	}
	missing := make([]bool, len(paths))
	each(len(paths), func(i int) {
		if ctx.Err() == nil {
			missing[i] = errors.Is(states[i].refresh(paths[i]), fs.ErrNotExist)
		}
	})
	present := make(map[string]bool, len(paths))
	for i, path := range paths {
		present[path] = !missing[i]
		if shrinks := &states[i].shrinks; !shrinks.since.IsZero() && !missing[i] {
			s.lookAgain(path, shrinks.left())
		}
		if !missing[i] && !states[i].known {
			s.pending.file(path) // each Load tries an unreadable file again
		}
	}
	return present
}

// gather combines the results of all files.
func (s *Source) gather() snapshot.Loaded {
	if s.order == nil {
		s.order = slices.Sorted(maps.Keys(s.files))
	}
	result := snapshot.Loaded{Files: len(s.files)}
	for _, path := range s.order {
		f := s.files[path]
		result.Objects.Append(f.objects)
		result.Notes = append(result.Notes, f.notes...)
		result.Errors = append(result.Errors, f.errs...)
	}
	result.Errors = append(result.Errors, s.errs...)
	return result
}

// Documents returns the documents of all files in the order of their paths, for messages
// that name the place of an object.
func (s *Source) Documents() []decode.Document {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []decode.Document
	for _, path := range slices.Sorted(maps.Keys(s.files)) {
		all = append(all, s.files[path].reader.Documents()...)
	}
	return all
}

// each calls do with 0 to n-1, on all processors.
func each(n int, do func(i int)) {
	workqueue.ParallelizeUntil(context.Background(), runtime.GOMAXPROCS(0), n, do)
}
