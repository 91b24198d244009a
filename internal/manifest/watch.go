package manifest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

// A signal is given when nothing has happened for quiet, at the latest latest
// after the first change. Where a directory cannot be watched, the source is
// looked at again after each interval of blind.
const (
	quiet  = 20 * time.Millisecond
	latest = 100 * time.Millisecond
	blind  = 2 * time.Second
)

// Watch signals that Load may give something new, until ctx ends. Signals that
// nobody took yet become one. It fails if the path cannot be watched now; later
// it copes with directories that come, go and come back, and with links that
// are pointed elsewhere, as in a mounted ConfigMap. The standard input is not
// watched.
func (s *Source) Watch(ctx context.Context) (<-chan struct{}, error) {
	signals := make(chan struct{}, 1)
	if s.path == Stdin {
		return signals, nil
	}
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch manifests: %w", err)
	}
	w := &watcher{root: s.root, log: s.log, notify: notify, signals: signals}
	if err := w.renew(); err != nil {
		return nil, errors.Join(fmt.Errorf("watch manifests: %w", err), notify.Close())
	}
	go w.run(ctx)
	return signals, nil
}

// watcher turns events of the file system into signals.
type watcher struct {
	root    string
	log     *slog.Logger
	notify  *fsnotify.Watcher
	signals chan<- struct{}

	places  map[string]*place // watched directories by their real path
	failing string            // the last failure that was logged
}

func (w *watcher) run(ctx context.Context) {
	defer w.notify.Close()
	var calm, limit, again <-chan time.Time
	changed := func() {
		calm = time.After(quiet)
		if limit == nil {
			limit = time.After(latest)
		}
	}
	signal := func() {
		calm, limit, again = nil, nil, w.signal()
	}
	for {
		select {
		case <-ctx.Done():
			return
		case event := <-w.notify.Events:
			if w.matters(event) {
				changed()
			}
		case err := <-w.notify.Errors:
			w.log.Warn("some changes of manifests were not seen; looking at all", "error", err)
			changed()
		case <-calm:
			signal()
		case <-limit:
			signal()
		case <-again:
			signal()
		}
	}
}

// signal renews the watches first: what happens in a new directory after that
// makes another event, what happened before is seen by the Load that follows.
// The channel it returns says when to look again, if not everything is watched.
func (w *watcher) signal() <-chan time.Time {
	var again <-chan time.Time
	failing := ""
	if err := w.renew(); err != nil {
		again, failing = time.After(blind), err.Error()
		if failing != w.failing {
			w.log.Warn("manifests are not watched completely; looking at them again and again", "every", blind, "error", err)
		}
	}
	w.failing = failing
	select {
	case w.signals <- struct{}{}:
	default:
	}
	return again
}

// matters reports whether an event can change what Load gives.
func (w *watcher) matters(event fsnotify.Event) bool {
	path, base := event.Name, filepath.Base(event.Name)
	if _, ok := w.places[path]; ok {
		if event.Has(fsnotify.Create) || event.Has(fsnotify.Remove) || event.Has(fsnotify.Rename) {
			w.dropAll(path) // whatever has the name now is watched anew
		}
		return true
	}
	parent := w.places[filepath.Dir(path)]
	switch {
	case parent == nil:
		return false
	case slices.Contains(parent.names, base), parent.tree && base == "..data":
		return true
	case !parent.tree || hidden(base):
		return false
	}
	return isManifest(path) || isDirectory(path)
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
