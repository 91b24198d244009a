// Package manifest is a source of objects: a directory of YAML and JSON files,
// one file, or the standard input.
//
// What goes in is a path; what comes out are the objects in its files as they
// are now (Load), and one coalesced signal whenever that may have changed
// (Watch). A file that does not read or decode changes nothing: it goes on
// giving what it gave before, with an error that says what to mend. Only a file
// that has given nothing so far gives its good documents. A file that was
// emptied counts as broken too, because that is how a file looks while a command
// such as "kubectl get ... > file" is about to write it; to take objects away,
// delete the file or the documents in it. Where changes are watched, documents
// that a file no longer has, as while it is written in place, count as gone after
// a second in which it did not change.
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

// Stdin is the path that means the standard input.
const Stdin = "-"

// Source gives the objects of a directory, a file or the standard input. Use
// Open. Its methods may be called from several goroutines.
type Source struct {
	path string // as it was given
	root string // the same, absolute
	log  *slog.Logger

	// What is read once, to its end: the name of the standard input or of a pipe, and
	// how it is read. The name is empty for files.
	stream     string
	readStream func() ([]byte, error)

	pending pending
	// signals are those of Watch, nil without it.
	signals atomic.Pointer[chan struct{}]

	mu    sync.Mutex
	files map[string]*file // by path
	order []string         // the paths of files, sorted; nil after one came or went
	errs  []error          // directories that could not be read
	once  Once             // set by LoadOnce
}

// Open prepares a source. It fails, in one line, if path does not exist. path is
// a directory, which is read with its sub-directories, a file, or "-".
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

// Load reads what changed and returns everything. It fails only if the directory
// or the file as a whole cannot be read; then nothing is known and nothing is
// forgotten. The standard input is read once.
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

// lookAtAll lists the tree and brings every file up to date.
func (s *Source) lookAtAll(ctx context.Context) error {
	found, err := list(s.root)
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

// lookAt brings the files up to date of which the watch told. Of 10,000 files
// that did not change none is touched.
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

// readToEnd reads to the end, which may be far away: whoever is at a terminal
// can stop it.
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

// file gives the state of a file, a new one if it is seen for the first time.
func (s *Source) file(path string) *file {
	f := s.files[path]
	if f == nil {
		f = &file{name: s.display(path), reader: decode.Reader{Each: each}}
		s.files[path] = f
		s.order = nil
	}
	return f
}

// display gives a path as the user would write it.
func (s *Source) display(path string) string {
	relative, err := filepath.Rel(s.root, path)
	if err != nil {
		return path
	}
	return filepath.Join(s.path, relative)
}

// readAll brings the files up to date, several at once. It returns those that
// are there.
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
			s.pending.file(path) // what does not read is tried again each time
		}
	}
	return present
}

// gather puts together what all files give.
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

// Documents gives the documents of all files as they were read last, in the order
// of the files' paths: it is for those who tell where an object is written.
func (s *Source) Documents() []decode.Document {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []decode.Document
	for _, path := range slices.Sorted(maps.Keys(s.files)) {
		all = append(all, s.files[path].reader.Documents()...)
	}
	return all
}

// each calls do for every i from 0 up to n, on all processors.
func each(n int, do func(i int)) {
	workqueue.ParallelizeUntil(context.Background(), runtime.GOMAXPROCS(0), n, do)
}
