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

// A signal follows when nothing has changed for quiet, and at the latest latest after the
// first change. After a new file the wait is only brief: a file that was renamed into
// place is complete, and one that is being written causes its next event at once. If a
// directory cannot be watched, a signal follows after each interval of blind.
const (
	quiet  = 20 * time.Millisecond
	brief  = 5 * time.Millisecond
	latest = 100 * time.Millisecond
	blind  = 2 * time.Second
)

// Watch signals that Load may have news, until ctx ends. Pending signals are combined. It
// fails if the path cannot be watched now. Later it follows directories that disappear
// and return, and links that change, as in a mounted ConfigMap. It does not watch the
// standard input.
func (s *Source) Watch(ctx context.Context) (<-chan struct{}, error) {
	signals := make(chan struct{}, 1)
	if s.path == Stdin {
		return signals, nil
	}
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch manifests: %w", err)
	}
	w := &watcher{root: s.root, log: s.log, notify: notify, signals: signals, pending: &s.pending}
	if err := w.renew(); err != nil {
		return nil, errors.Join(fmt.Errorf("watch manifests: %w", err), notify.Close())
	}
	s.signals.Store(&signals)
	s.pending.watch()
	go w.run(ctx)
	return signals, nil
}

// watcher turns events of the file system into signals.
type watcher struct {
	root    string
	log     *slog.Logger
	notify  *fsnotify.Watcher
	signals chan<- struct{}
	pending *pending

	stale   bool              // the watches must be renewed, because more than files changed
	places  map[string]*place // watched directories by real path
	failing string            // the last failure that was logged
}

func (w *watcher) run(ctx context.Context) {
	defer w.notify.Close()
	defer w.pending.unwatch()
	var due time.Time
	var calm, limit, again <-chan time.Time
	changed := func(wait time.Duration) {
		if at := time.Now().Add(wait); at.After(due) {
			due = at
		}
		calm = time.After(time.Until(due))
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
			if wait := w.take(event); wait > 0 {
				changed(wait)
			}
		case err := <-w.notify.Errors:
			w.log.Warn("some changes of manifests were missed; reading all manifests again", "error", err)
			w.stale = true
			changed(quiet)
		case <-calm:
			signal()
		case <-limit:
			signal()
		case <-again:
			w.stale = true
			signal()
		}
	}
}

// take records an event, and returns how long to wait for more; 0 if it changes nothing.
func (w *watcher) take(event fsnotify.Event) time.Duration {
	effect, path := w.effect(event)
	switch {
	case effect == nothing:
		return 0
	case effect == anything:
		w.stale = true
		return quiet
	}
	w.pending.file(path)
	if event.Has(fsnotify.Create) {
		return brief
	}
	return quiet
}

// signal renews the watches and then signals. So the next Load sees every change in a new
// directory before the renewal, and later changes cause another event. It returns a timer
// for the next look if not everything is watched, nil otherwise.
func (w *watcher) signal() <-chan time.Time {
	again := w.keepUp()
	select {
	case w.signals <- struct{}{}:
	default:
	}
	return again
}

// keepUp renews the watches if more than files changed, or if not everything is watched.
func (w *watcher) keepUp() <-chan time.Time {
	if !w.stale && w.failing == "" {
		return nil
	}
	err := w.renew()
	w.pending.everything()
	w.stale = false
	if err == nil {
		w.failing = ""
		return nil
	}
	if err.Error() != w.failing {
		w.log.Warn("not all manifests can be watched; reading them at intervals", "every", blind, "error", err)
	}
	w.failing = err.Error()
	return time.After(blind)
}

// effect is the possible effect of an event on the result of Load.
type effect int

const (
	nothing effect = iota
	oneFile        // a regular file is new, changed or deleted
	anything
)

// effect returns the effect of an event and, for one file, its listed path.
func (w *watcher) effect(event fsnotify.Event) (effect, string) {
	path, base := event.Name, filepath.Base(event.Name)
	if _, ok := w.places[path]; ok {
		if event.Has(fsnotify.Create) || event.Has(fsnotify.Remove) || event.Has(fsnotify.Rename) {
			w.dropAll(path) // the name can belong to another directory now
		}
		return anything, ""
	}
	parent := w.places[filepath.Dir(path)]
	switch {
	case parent == nil:
		return nothing, ""
	case slices.Contains(parent.names, base), parent.listed != "" && base == "..data":
		return anything, ""
	case parent.listed == "" || hidden(base):
		return nothing, ""
	}
	info, err := os.Lstat(path)
	switch {
	case isManifest(path) && (err != nil || info.Mode().IsRegular()):
		return oneFile, filepath.Join(parent.listed, base)
	case isManifest(path) || err == nil && leadsToDirectory(path):
		return anything, ""
	}
	return nothing, ""
}

func leadsToDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
