package manifest

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

func event(path string) fsnotify.Event { return fsnotify.Event{Name: path, Op: fsnotify.Write} }

// await takes signals until Load gives the names, and fails if they stop coming
// before that.
func await(t *testing.T, s *Source, changes <-chan struct{}, want string) {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		select {
		case <-changes:
			r, err := s.Load(t.Context())
			if err == nil && names(r) == want {
				return
			}
		case <-deadline:
			r, err := s.Load(t.Context())
			t.Fatalf("no signal led to %q; there is %q now, %v", want, names(r), err)
		}
	}
}

func watch(t *testing.T, s *Source) <-chan struct{} {
	t.Helper()
	changes, err := s.Watch(t.Context())
	must(t, err)
	return changes
}

// step is a change and what Load gives after the signal it makes.
type step struct {
	what   string
	change func(t *testing.T, at func(string) string)
	want   string
}

func put(path, name string) func(*testing.T, func(string) string) {
	return func(t *testing.T, at func(string) string) { write(t, at(path), doc(name)) }
}

func mkdir(path string) func(*testing.T, func(string) string) {
	return func(t *testing.T, at func(string) string) { must(t, os.Mkdir(at(path), 0o755)) }
}

func remove(path string) func(*testing.T, func(string) string) {
	return func(t *testing.T, at func(string) string) { must(t, os.RemoveAll(at(path))) }
}

func move(from, to string) func(*testing.T, func(string) string) {
	return func(t *testing.T, at func(string) string) { must(t, os.Rename(at(from), at(to))) }
}

// link points a link elsewhere, in one step as the kubelet does.
func link(target, path string) func(*testing.T, func(string) string) {
	return func(t *testing.T, at func(string) string) {
		must(t, os.MkdirAll(filepath.Dir(at(path)), 0o755))
		must(t, os.Symlink(target, at(path)+".new"))
		must(t, os.Rename(at(path)+".new", at(path)))
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		root          string // "m" unless told
		before, steps []step
	}{
		"a file comes, changes and goes": {steps: []step{
			{"comes", put("m/a.yaml", "a"), "a"},
			{"changes", put("m/a.yaml", "b"), "b"},
			{"goes", remove("m/a.yaml"), ""},
		}},
		"an editor writes beside and renames": {before: []step{{change: put("m/a.yaml", "a")}}, steps: []step{
			{"renamed over it", func(t *testing.T, at func(string) string) {
				put("m/.a.yaml.swp", "x")(t, at)
				put("m/a.yaml.tmp", "b")(t, at)
				move("m/a.yaml.tmp", "m/a.yaml")(t, at)
			}, "b"},
			{"the old one moved away first", func(t *testing.T, at func(string) string) {
				move("m/a.yaml", "m/a.yaml~")(t, at)
				put("m/a.yaml", "c")(t, at)
			}, "c"},
		}},
		"new directories": {steps: []step{
			{"one with a file", put("m/x/a.yaml", "a"), "a"},
			{"a file in it changes", put("m/x/a.yaml", "b"), "b"},
			{"two at once", put("m/y/z/c.yaml", "c"), "b c"},
			{"a file deep in them", put("m/y/z/d.yaml", "d"), "b c d"},
			{"one is renamed", move("m/y", "m/a"), "c d b"},
			{"a file in the renamed one", put("m/a/z/d.yaml", "e"), "c e b"},
			{"one goes", remove("m/a"), "b"},
			{"and comes back", put("m/a/f.yaml", "f"), "f b"},
			{"a file in that", put("m/a/f.yaml", "g"), "g b"},
		}},
		"a directory is moved in": {before: []step{{change: put("away/a.yaml", "a")}, {change: mkdir("m")}}, steps: []step{
			{"in", move("away", "m/in"), "a"},
			{"a file in it changes", put("m/in/a.yaml", "b"), "b"},
			{"out", move("m/in", "away"), ""},
		}},
		"the directory is removed and made again": {before: []step{{change: put("m/a.yaml", "a")}}, steps: []step{
			{"made again", func(t *testing.T, at func(string) string) {
				remove("m")(t, at)
				put("m/b.yaml", "b")(t, at)
			}, "b"},
			{"a file in it changes", put("m/b.yaml", "c"), "c"},
			{"replaced", func(t *testing.T, at func(string) string) {
				put("n/d.yaml", "d")(t, at)
				move("m", "old")(t, at)
				move("n", "m")(t, at)
			}, "d"},
			{"a file in that", put("m/d.yaml", "e"), "e"},
		}},
		"its parent is removed and made again": {root: "p/q/m", before: []step{{change: put("p/q/m/a.yaml", "a")}}, steps: []step{
			{"made again", func(t *testing.T, at func(string) string) {
				remove("p")(t, at)
				put("p/q/m/b.yaml", "b")(t, at)
			}, "b"},
			{"a file in it changes", put("p/q/m/b.yaml", "c"), "c"},
		}},
		"a mounted ConfigMap": {before: []step{
			{change: put("m/..1/a.yaml", "a")}, {change: link("..1", "m/..data")}, {change: link("..data/a.yaml", "m/a.yaml")},
		}, steps: []step{
			{"swapped", func(t *testing.T, at func(string) string) {
				put("m/..2/a.yaml", "b")(t, at)
				link("..2", "m/..data")(t, at)
				remove("m/..1")(t, at)
			}, "b"},
			{"and again", func(t *testing.T, at func(string) string) {
				put("m/..3/a.yaml", "c")(t, at)
				link("..3", "m/..data")(t, at)
				remove("m/..2")(t, at)
			}, "c"},
		}},
		"the directory is a link": {before: []step{{change: put("v1/a.yaml", "a")}, {change: link("v1", "m")}}, steps: []step{
			{"a file changes", put("v1/a.yaml", "b"), "b"},
			{"pointed elsewhere", func(t *testing.T, at func(string) string) {
				put("v2/a.yaml", "c")(t, at)
				link("v2", "m")(t, at)
			}, "c"},
			{"a file there changes", put("v2/a.yaml", "d"), "d"},
		}},
		"a link on the way": {root: "current/m", before: []step{{change: put("v1/m/a.yaml", "a")}, {change: link("v1", "current")}}, steps: []step{
			{"pointed elsewhere", func(t *testing.T, at func(string) string) {
				put("v2/m/a.yaml", "b")(t, at)
				link("v2", "current")(t, at)
			}, "b"},
			{"a file there changes", put("v2/m/a.yaml", "c"), "c"},
		}},
		"links to files elsewhere": {before: []step{{change: put("real/text", "a")}, {change: link("../real/text", "m/a.yaml")}}, steps: []step{
			{"the file changes", put("real/text", "b"), "b"},
			{"the file is replaced", func(t *testing.T, at func(string) string) {
				put("real/text2", "c")(t, at)
				move("real/text2", "real/text")(t, at)
			}, "c"},
			{"the link goes", remove("m/a.yaml"), ""},
		}},
		"a second name for a directory": {before: []step{{change: put("m/z/x.yaml", "a")}}, steps: []step{
			{"a link that comes before it", link("z", "m/a"), "a"},
			{"a file changes", put("m/z/x.yaml", "b"), "b"},
			{"the link goes", remove("m/a"), "b"},
			{"a file changes", put("m/z/x.yaml", "c"), "c"},
			{"a link to one elsewhere", func(t *testing.T, at func(string) string) {
				put("away/v.yaml", "v")(t, at)
				link("../away", "m/y")(t, at)
			}, "v c"},
			{"a file there changes", put("away/v.yaml", "w"), "w c"},
			{"that link goes", remove("m/y"), "c"},
		}},
		"one file": {root: "m/a.yaml", before: []step{{change: put("m/a.yaml", "a")}}, steps: []step{
			{"changes", put("m/a.yaml", "b"), "b"},
			{"is replaced", func(t *testing.T, at func(string) string) {
				put("m/new", "c")(t, at)
				move("m/new", "m/a.yaml")(t, at)
			}, "c"},
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top := t.TempDir()
			at := func(path string) string { return filepath.Join(top, path) }
			if len(c.before) == 0 {
				must(t, os.Mkdir(at("m"), 0o755))
			}
			for _, s := range c.before {
				s.change(t, at)
			}
			s := open(t, at(cmp.Or(c.root, "m")))
			changes := watch(t, s)
			load(t, s)
			for _, step := range c.steps {
				t.Log(step.what)
				step.change(t, at)
				await(t, s, changes, step.want)
			}
		})
	}
}

// Many changes at once are one or two signals, not many.
func TestWatchCoalesces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	changes := watch(t, s)
	want := ""
	for i := range 200 {
		write(t, filepath.Join(dir, fmt.Sprintf("n%03d.yaml", i)), doc(fmt.Sprintf("n%03d", i)))
		want += fmt.Sprintf(" n%03d", i)
	}
	signals := 0
	deadline := time.After(time.Minute)
	for names(load(t, s)) != want[1:] || signals == 0 {
		select {
		case <-changes:
			signals++
		case <-deadline:
			t.Fatalf("%d signals, and not all files were seen", signals)
		}
	}
	if signals > 20 {
		t.Errorf("200 files made %d signals", signals)
	}
}

// While changes go on and on there is a signal all the same.
func TestWatchDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	changes := watch(t, open(t, dir))
	stop := make(chan struct{})
	writing := make(chan struct{})
	go func() {
		defer close(writing)
		tick := time.NewTicker(quiet / 4)
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-tick.C:
				_ = os.WriteFile(filepath.Join(dir, "a.yaml"), fmt.Append(nil, "# ", i), 0o644)
			}
		}
	}()
	select {
	case <-changes:
	case <-time.After(time.Minute):
		t.Error("no signal while the file keeps changing")
	}
	close(stop)
	<-writing
}

// What is passed over makes no signal: the one that comes is that of the file
// written last.
func TestWatchPassesOver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "m", "a.yaml"), doc("a"))
	s := open(t, filepath.Join(dir, "m"))
	w := &watcher{root: s.root, places: map[string]*place{
		filepath.Join(dir, "m"): {listed: filepath.Join(dir, "m"), names: []string{"odd"}}, dir: {names: []string{"m"}},
	}}
	for path, want := range map[string]bool{
		"m/a.yaml": true, "m/b.json": true, "m/..data": true, "m/odd": true, "m": true,
		"m/.a.yaml.swp": false, "m/a.yaml~": false, "m/4913": false, "m/.git": false, "m/notes.md": false, "n": false, "x.yaml": false, "m/sub/a.yaml": false,
	} {
		if got, _ := w.effect(event(filepath.Join(dir, path))); (got != nothing) != want {
			t.Errorf("%s: want %v, got %v", path, want, got)
		}
	}
}

// Once a watch tells what changes, Load looks at nothing else; without one, and
// when it cannot tell, at everything.
func TestLoadLooksAtWhatChanged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, two := filepath.Join(dir, "1.yaml"), filepath.Join(dir, "2.yaml")
	write(t, one, doc("a"))
	write(t, two, doc("b"))
	s := open(t, dir)
	steps := []struct {
		what   string
		change func()
		want   string
	}{
		{"without a watch", func() { write(t, two, doc("b2")) }, "a b2"},
		{"a watch begins", func() { s.pending.watch(); write(t, two, doc("b3")) }, "a b3"},
		{"nothing was noted", func() { write(t, one, doc("a4")); write(t, two, doc("b4")) }, "a b3"},
		{"one was noted", func() { s.pending.file(two) }, "a b4"},
		{"one that went", func() { must(t, os.Remove(two)); s.pending.file(two) }, "a"},
		{"one that came", func() { write(t, two, doc("b5")); s.pending.file(two) }, "a b5"},
		{"one that was never there", func() { s.pending.file(filepath.Join(dir, "3.yaml")) }, "a b5"},
		{"the watch cannot tell", s.pending.everything, "a4 b5"},
		{"and can again", func() { write(t, one, doc("a6")) }, "a4 b5"},
		{"the watch ended", s.pending.unwatch, "a6 b5"},
		{"and nothing tells any more", func() { write(t, one, doc("a7")) }, "a7 b5"},
	}
	load(t, s)
	for _, step := range steps {
		step.change()
		if got := names(load(t, s)); got != step.want {
			t.Errorf("%s: want %q, got %q", step.what, step.want, got)
		}
	}
}

// What could not be read is tried again though nothing tells that it changed,
// and after a Load that failed everything is looked at.
func TestLoadTriesAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bad, other := filepath.Join(dir, "bad.yaml"), filepath.Join(dir, "other.yaml")
	must(t, syscall.Mkfifo(bad, 0o644))
	write(t, other, doc("a"))
	s := open(t, dir)
	s.pending.watch()
	for range 2 {
		if r := load(t, s); len(r.Errors) != 1 {
			t.Fatalf("want one error, got %v", r.Errors)
		}
	}
	must(t, os.Remove(bad))
	write(t, bad, doc("b"))
	if r := load(t, s); names(r) != "b a" || len(r.Errors) > 0 {
		t.Errorf("want \"b a\", got %q, %v", names(r), r.Errors)
	}
	write(t, other, doc("c"))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Load(ended); err == nil {
		t.Error("a Load that was cancelled gave something")
	}
	if got := names(load(t, s)); got != "b c" {
		t.Errorf("want \"b c\" after a Load that failed, got %q", got)
	}
}

func TestWatchEnds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	s := open(t, dir)
	changes, err := s.Watch(ctx)
	must(t, err)
	write(t, filepath.Join(dir, "a.yaml"), doc("a"))
	await(t, s, changes, "a")
	cancel()
	select {
	case _, open := <-changes:
		if !open {
			t.Error("the channel is closed: a select on it would spin")
		}
	default:
	}
}
