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
// after the first change. After a file that appeared, brief is enough: one that
// was renamed into place is whole, and of one that is being written the next
// event follows at once. Where a directory cannot be watched, the source is
// looked at again after each interval of blind.
const (
	quiet  = 20 * time.Millisecond
	brief  = 5 * time.Millisecond
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

	stale   bool              // more changed than files: the watches are to be renewed
	places  map[string]*place // watched directories by their real path
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
			w.log.Warn("some changes of manifests were not seen; looking at all", "error", err)
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

// take notes what an event changes and gives how long to wait for more; 0 if it
// changes nothing.
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

// signal renews the watches first: what happens in a new directory after that
// makes another event, what happened before is seen by the Load that follows.
// The channel it returns says when to look again, if not everything is watched.
func (w *watcher) signal() <-chan time.Time {
	again := w.keepUp()
	select {
	case w.signals <- struct{}{}:
	default:
	}
	return again
}

// keepUp renews the watches if more changed than files, which is to look at all
// directories. As long as not everything is watched, everything is looked at.
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
		w.log.Warn("manifests are not watched completely; looking at them again and again", "every", blind, "error", err)
	}
	w.failing = err.Error()
	return time.After(blind)
}

// effect is what an event can change of what Load gives.
type effect int

const (
	nothing effect = iota
	oneFile        // a regular file came, changed or went
	anything
)

// effect gives the effect of an event and, for one file, the path by which it
// is listed.
func (w *watcher) effect(event fsnotify.Event) (effect, string) {
	path, base := event.Name, filepath.Base(event.Name)
	if _, ok := w.places[path]; ok {
		if event.Has(fsnotify.Create) || event.Has(fsnotify.Remove) || event.Has(fsnotify.Rename) {
			w.dropAll(path) // whatever has the name now is watched anew
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
