// Package geoip provides the GeoIP2 databases that nginx reads. In goes a folder with files
// such as GeoLite2-City.mmdb; out come checked copies, and a signal when they change.
//
// nginx refuses to start with a database that it cannot read, and one that is changed while
// nginx reads it can end a worker. So each file is checked first, and nginx gets a copy below
// the state directory whose name is a hash of its content.
package geoip

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/oschwald/maxminddb-golang/v2"

	"sluice/internal/render"
)

// The folder is read when it has not changed for quietTime, and at intervals: of pollTime,
// because some volumes send no events, or of blindTime if it cannot be watched, for example
// because it does not exist yet.
// Events that go on delay it by longestTime at most.
const (
	quietTime   = time.Second
	longestTime = 15 * time.Second
	pollTime    = time.Minute
	blindTime   = 10 * time.Second
)

// mostBytes is more than any database of MaxMind has.
const mostBytes = 1 << 30

// Editions are the names of the databases that Sluice knows.
var Editions = []string{
	"GeoIP2-ASN", "GeoIP2-Anonymous-IP", "GeoIP2-City", "GeoIP2-Connection-Type", "GeoIP2-Country", "GeoIP2-ISP",
	"GeoLite2-ASN", "GeoLite2-City", "GeoLite2-Country",
}

// Options configure a Source.
type Options struct {
	// Dir is the folder with the databases, Copies that for the copies.
	Dir, Copies string
	// Editions are the databases to read, in the order of nginx.conf.
	Editions []string
	Log      *slog.Logger
}

// Source provides the databases. If a new file is not valid, it reports that, and the last
// good copy stays in force.
type Source struct {
	Options
	current atomic.Pointer[[]render.Database]
	changes chan struct{}
	// fetched signals the end of a download.
	fetched chan struct{}
	// seen are the files as they were read last, by edition, and troubles their last
	// errors. Only one goroutine uses them.
	seen     map[string]state
	troubles map[string]string
}

// state tells whether a file has changed.
type state struct {
	size int64
	time time.Time
	// path is the copy, "" if the file is not valid and was never.
	path string
	// wrong is the error of a file that is not valid.
	wrong error
}

// Open reads the databases once. Missing and invalid ones are reported, and may follow.
func Open(o Options) *Source {
	s := &Source{Options: o, changes: make(chan struct{}, 1), fetched: make(chan struct{}, 1), seen: map[string]state{}, troubles: map[string]string{}}
	s.current.Store(&[]render.Database{})
	s.sweep()
	s.read()
	return s
}

// Current returns the databases in force.
func (s *Source) Current() []render.Database { return *s.current.Load() }

// Changes signals that the result of Current has changed.
func (s *Source) Changes() <-chan struct{} { return s.changes }

// Watch reads the files when they change, until ctx ends.
func (s *Source) Watch(ctx context.Context) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch GeoIP databases: %w", err)
	}
	go s.follow(ctx, watcher)
	return nil
}

func (s *Source) follow(ctx context.Context, watcher *fsnotify.Watcher) {
	defer watcher.Close()
	quiet := time.After(0) // for changes before the watch
	var latest time.Time
	soon := func() {
		now := time.Now()
		if latest.Before(now) {
			latest = now.Add(longestTime)
		}
		quiet = time.After(min(quietTime, latest.Sub(now)))
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-watcher.Events:
			soon()
		case <-watcher.Errors: // events were lost
			soon()
		case <-s.fetched:
			quiet = time.After(0)
		case <-quiet:
			latest = time.Time{}
			quiet = time.After(blindTime)
			if watcher.Add(s.Dir) == nil {
				quiet = time.After(pollTime)
			}
			if s.read() {
				select {
				case s.changes <- struct{}{}:
				default: // a signal waits
				}
			}
		}
	}
}

// read reads the files that changed, and reports whether the databases did.
func (s *Source) read() (changed bool) {
	var all []render.Database
	for _, edition := range s.Editions {
		was := s.seen[edition]
		now, err := s.edition(edition, was)
		s.seen[edition] = now
		s.report(edition, now.path, err)
		if now.path != "" {
			all = append(all, render.Database{Edition: edition, Path: now.path})
		}
	}
	before := s.Current()
	if slices.Equal(all, before) {
		return false
	}
	s.current.Store(&all)
	s.clean(all, before)
	return true
}

// edition checks and copies one file, if it has changed.
func (s *Source) edition(edition string, was state) (state, error) {
	file := filepath.Join(s.Dir, edition+".mmdb")
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		file = s.download(edition)
		info, err = os.Stat(file)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return was, err
	}
	if err == nil && info.Size() == was.size && info.ModTime().Equal(was.time) {
		return was, was.wrong
	}
	path := ""
	if err == nil {
		path, err = s.copy(edition, file)
	}
	if err != nil && was.path == "" {
		was.path = s.earlier(edition)
	}
	if err != nil && !errors.Is(err, errNotValid) {
		return was, err // it may succeed the next time
	}
	return state{size: info.Size(), time: info.ModTime(), path: cmp.Or(path, was.path), wrong: err}, err
}

// unfinished is the pattern of the names of copies that are not checked yet.
const unfinished = ".new-*"

// errNotValid is wrapped by the errors about a file that nginx could not read.
var errNotValid = errors.New("the database is not valid")

// copy copies a file and checks the copy. It returns its path.
func (s *Source) copy(edition, file string) (string, error) {
	if err := os.MkdirAll(s.Copies, 0o755); err != nil {
		return "", err
	}
	source, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer source.Close()
	made, err := os.CreateTemp(s.Copies, unfinished)
	if err != nil {
		return "", err
	}
	defer os.Remove(made.Name())
	defer made.Close()
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(made, sum), io.LimitReader(source, mostBytes+1))
	switch {
	case err != nil:
		return "", err
	case n > mostBytes:
		return "", fmt.Errorf("%w: it has more than %d MB", errNotValid, mostBytes>>20)
	}
	if err := Check(made.Name(), edition); err != nil {
		return "", fmt.Errorf("%w: %w", errNotValid, err)
	}
	path := s.nameOf(edition, sum)
	return path, errors.Join(made.Chmod(0o644), os.Rename(made.Name(), path))
}

// earlier returns the newest copy of an edition that an earlier run of Sluice checked, "" if
// none is whole.
func (s *Source) earlier(edition string) string {
	newest, at := "", time.Time{}
	copies, _ := filepath.Glob(filepath.Join(s.Copies, edition+"-*.mmdb"))
	for _, path := range copies {
		info, err := os.Stat(path)
		if err != nil || !info.ModTime().After(at) {
			continue
		}
		content, err := os.Open(path)
		if err != nil {
			continue
		}
		sum := sha256.New()
		_, err = io.Copy(sum, content)
		content.Close()
		if err == nil && path == s.nameOf(edition, sum) {
			newest, at = path, info.ModTime()
		}
	}
	return newest
}

// nameOf returns the path of a copy.
func (s *Source) nameOf(edition string, sum hash.Hash) string {
	return filepath.Join(s.Copies, edition+"-"+hex.EncodeToString(sum.Sum(nil))[:16]+".mmdb")
}

// sweep removes what a run that was killed left behind.
func (s *Source) sweep() {
	left, _ := filepath.Glob(filepath.Join(s.Copies, unfinished))
	for _, file := range left {
		os.Remove(file)
	}
}

// Check reports whether nginx can read a database. Its type must be that of the edition.
func Check(file, edition string) error {
	db, err := maxminddb.Open(file)
	if err != nil {
		return fmt.Errorf("want a database of MaxMind: %w", err)
	}
	defer db.Close()
	if err := db.Verify(); err != nil {
		return fmt.Errorf("the database is damaged: %w", err)
	}
	_, kind, _ := strings.Cut(edition, "-")
	if !strings.Contains(db.Metadata.DatabaseType, kind) {
		return fmt.Errorf("want a database with %s in its type (got %q)", kind, db.Metadata.DatabaseType)
	}
	return nil
}

// report logs an error once. inForce is the copy that is in use, "" for none.
func (s *Source) report(edition, inForce string, err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text == s.troubles[edition] {
		return
	}
	s.troubles[edition] = text
	switch {
	case err == nil:
		s.Log.Info("GeoIP database read", "edition", edition)
	case errors.Is(err, fs.ErrNotExist):
		s.Log.Debug("no GeoIP database", "edition", edition, "folder", s.Dir)
	case inForce == "":
		s.Log.Warn("GeoIP database not valid", "edition", edition, "error", text)
	default:
		s.Log.Warn("GeoIP database not valid; the last good one stays in use", "edition", edition, "error", text)
	}
}

// clean removes copies that are neither in force nor were until now: workers of nginx that
// drain still read those.
func (s *Source) clean(now, before []render.Database) {
	kept := map[string]bool{}
	for _, d := range slices.Concat(now, before) {
		kept[filepath.Base(d.Path)] = true
	}
	entries, _ := os.ReadDir(s.Copies)
	for _, entry := range entries {
		if !kept[entry.Name()] && strings.HasSuffix(entry.Name(), ".mmdb") {
			os.Remove(filepath.Join(s.Copies, entry.Name()))
		}
	}
}
