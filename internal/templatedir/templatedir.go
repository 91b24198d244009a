// Package templatedir provides the templates of nginx.conf: those in the binary, or those
// in a watched folder.
package templatedir

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"

	"sluice/internal/render"
	"sluice/templates"
)

// The folder is read when it has not changed for quietTime. While it cannot be watched, it
// is read at intervals of blindTime.
const (
	quietTime = 50 * time.Millisecond
	blindTime = time.Second
)

// Source provides templates. If new templates cannot be loaded, it reports that, and the
// previous ones stay in force.
type Source struct {
	dir     string
	log     *slog.Logger
	current atomic.Pointer[render.Templates]
	changes chan struct{}
	// read is a hash of the last files; trouble is the last error. After Open, only the
	// goroutine of follow uses them.
	read    [sha256.Size]byte
	trouble string
}

// Open loads the templates of dir, or the built-in ones if dir is "".
// It fails if they cannot be loaded.
func Open(dir string, log *slog.Logger) (*Source, error) {
	s := &Source{dir: dir, log: log, changes: make(chan struct{}, 1)}
	if dir != "" {
		var err error
		if s.read, err = s.hash(); err != nil {
			return nil, fmt.Errorf("read templates: %w", err)
		}
	}
	return s, s.load()
}

// Current returns the templates in force.
func (s *Source) Current() *render.Templates { return s.current.Load() }

// Changes signals that the result of Current has changed.
func (s *Source) Changes() <-chan struct{} { return s.changes }

func (s *Source) load() error {
	var files fs.FS = templates.Files
	if s.dir != "" {
		files = os.DirFS(s.dir)
	}
	loaded, err := render.Load(files)
	if err != nil {
		return fmt.Errorf("load templates: %w", err)
	}
	s.current.Store(loaded)
	return nil
}

// Watch reloads the folder when it changes, until ctx ends. Without a folder it does
// nothing.
func (s *Source) Watch(ctx context.Context) error {
	if s.dir == "" {
		return nil
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch templates: %w", err)
	}
	if err := s.watch(watcher); err != nil {
		watcher.Close()
		return fmt.Errorf("watch templates in %s: %w", s.dir, err)
	}
	go s.follow(ctx, watcher)
	return nil
}

// watch watches the folder, its subfolders and its parent, because the folder itself can
// be replaced, like the link of a mounted ConfigMap.
func (s *Source) watch(watcher *fsnotify.Watcher) error {
	if err := watcher.Add(filepath.Dir(filepath.Clean(s.dir))); err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(s.dir)
	if err != nil {
		return err
	}
	return filepath.WalkDir(real, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		return watcher.Add(path)
	})
}

// hash returns a hash of the names and contents of the files.
func (s *Source) hash() (sum [sha256.Size]byte, err error) {
	all := sha256.New()
	files := os.DirFS(s.dir)
	err = fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".tmpl" {
			return err
		}
		content, err := fs.ReadFile(files, path)
		fmt.Fprintf(all, "%q %d\n", path, len(content))
		all.Write(content)
		return err
	})
	all.Sum(sum[:0])
	return sum, err
}

func (s *Source) follow(ctx context.Context, watcher *fsnotify.Watcher) {
	defer watcher.Close()
	quiet := time.After(quietTime) // for changes before the watch
	for {
		select {
		case <-ctx.Done():
			return
		case <-watcher.Events:
			quiet = time.After(quietTime)
		case <-watcher.Errors: // events were lost
			quiet = time.After(quietTime)
		case <-quiet:
			quiet = nil
			if s.reload(watcher) != nil {
				quiet = time.After(blindTime)
			}
		}
	}
}

// reload loads the folder if it changed. It returns an error if the folder cannot be
// watched, so that it must be read again without an event.
func (s *Source) reload(watcher *fsnotify.Watcher) error {
	unwatched := s.watch(watcher)
	now, err := s.hash()
	if err = errors.Join(unwatched, err); err == nil && now == s.read {
		s.trouble = ""
		return nil
	}
	if err == nil {
		s.read = now
		err = s.load()
	}
	if err != nil {
		s.complain(err)
		return unwatched
	}
	s.trouble = ""
	select {
	case s.changes <- struct{}{}:
	default:
	}
	return nil
}

// complain logs an error, unless it is the last one.
func (s *Source) complain(err error) {
	if text := err.Error(); text != s.trouble {
		s.trouble = text
		s.log.Error("templates rejected; the previous ones stay in use", "error", err)
	}
}
