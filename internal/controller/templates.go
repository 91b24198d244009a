package controller

import (
	"context"
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

// templateQuiet is how long a template folder must be quiet before it is read.
const templateQuiet = 50 * time.Millisecond

// TemplateSource gives the templates of the binary, or those of a folder that
// is watched. Templates that cannot be loaded are reported, and the ones before
// stay in force.
type TemplateSource struct {
	dir     string
	log     *slog.Logger
	current atomic.Pointer[render.Templates]
	changes chan struct{}
}

// OpenTemplates loads the templates of dir, or the built-in ones if dir is "".
// It fails if they cannot be loaded.
func OpenTemplates(dir string, log *slog.Logger) (*TemplateSource, error) {
	s := &TemplateSource{dir: dir, log: log, changes: make(chan struct{}, 1)}
	return s, s.load()
}

// Current returns the templates in force.
func (s *TemplateSource) Current() *render.Templates { return s.current.Load() }

// Changes signals that Current gives other templates than before.
func (s *TemplateSource) Changes() <-chan struct{} { return s.changes }

// Reject goes back from templates that nginx refuses to those before, until the
// folder changes.
func (s *TemplateSource) Reject(refused, before *render.Templates, reason string) {
	if s.current.CompareAndSwap(refused, before) {
		s.log.Error("templates not taken; the ones before stay in force", "error", "nginx refuses what they print: "+reason)
	}
}

func (s *TemplateSource) load() error {
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

// Watch reloads the folder whenever it changes, until ctx ends. Without a
// folder it does nothing.
func (s *TemplateSource) Watch(ctx context.Context) error {
	if s.dir == "" {
		return nil
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch templates: %w", err)
	}
	if err := addFolders(watcher, s.dir); err != nil {
		watcher.Close()
		return fmt.Errorf("watch templates in %s: %w", s.dir, err)
	}
	go s.follow(ctx, watcher)
	return nil
}

func addFolders(watcher *fsnotify.Watcher, dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		return watcher.Add(path)
	})
}

func (s *TemplateSource) follow(ctx context.Context, watcher *fsnotify.Watcher) {
	defer watcher.Close()
	var quiet <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-watcher.Events:
			quiet = time.After(templateQuiet)
		case err := <-watcher.Errors:
			s.log.Warn("templates not watched", "error", err)
		case <-quiet:
			quiet = nil
			s.reload(watcher)
		}
	}
}

func (s *TemplateSource) reload(watcher *fsnotify.Watcher) {
	if err := addFolders(watcher, s.dir); err != nil {
		s.log.Warn("templates not watched", "error", err)
	}
	if err := s.load(); err != nil {
		s.log.Error("templates not taken; the ones before stay in force", "error", err)
		return
	}
	select {
	case s.changes <- struct{}{}:
	default:
	}
}
