package manifest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/snapshot"
)

// doc is a document with a Namespace, the smallest object there is.
func doc(name string) string {
	return "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: " + name + "}\n"
}

// write writes a file and makes the directories for it.
func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

// age makes a file look as if it was written long ago.
func age(t *testing.T, path string) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(path, old, old))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, path string) *Source {
	t.Helper()
	s, err := Open(path, slog.New(slog.DiscardHandler))
	must(t, err)
	return s
}

func load(t *testing.T, s *Source) snapshot.Loaded {
	t.Helper()
	r, err := s.Load(t.Context())
	must(t, err)
	return r
}

func names(r snapshot.Loaded) string {
	var names []string
	for _, n := range r.Objects.Namespaces {
		names = append(names, n.Name)
	}
	return strings.Join(names, " ")
}

// errorsOf gives the errors with the directory's own path left out.
func errorsOf(r snapshot.Loaded, dir string) []string {
	var lines []string
	for _, err := range r.Errors {
		lines = append(lines, strings.ReplaceAll(err.Error(), dir+"/", ""))
	}
	return lines
}

func TestLoadDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for path, text := range map[string]string{
		"b.yaml": doc("b1") + doc("b2"), "a.yml": doc("a"), "sub/deep/c.json": `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"c"}}`,
		"d.YAML": doc("d"), "empty.yaml": "", "comments.yaml": "# nothing\n",
		"readme.md": "text", ".hidden.yaml": doc("x"), ".git/x.yaml": doc("x"), "e.yaml~": doc("x"), ".e.yaml.swp": "x", "#e.yaml": doc("x"), "~/f.yaml": doc("x"),
		"other.yaml": "{apiVersion: apps/v1, kind: Deployment}",
	} {
		write(t, filepath.Join(dir, path), text)
	}
	must(t, os.Symlink("circle", filepath.Join(dir, "circle")))
	must(t, os.Symlink(".", filepath.Join(dir, "sub", "up")))
	must(t, os.Symlink("nowhere", filepath.Join(dir, "dangling.yaml")))
	s := open(t, dir)
	r := load(t, s)
	if diff := cmp.Diff("a b1 b2 d c", names(r)); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
	if len(r.Errors) > 0 || r.Files != 7 || len(r.Notes) != 1 || r.Notes[0].Text != "passed over: kind Deployment" {
		t.Errorf("got %d files, notes %v, errors %v", r.Files, r.Notes, r.Errors)
	}
	if diff := cmp.Diff(r, load(t, s)); diff != "" {
		t.Errorf("a second load differs:\n%s", diff)
	}
}

// Documents say of every file where what it gives is written, by the path that
// the user gave.
func TestDocuments(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
	write(t, filepath.Join(dir, "sub", "b.yaml"), doc("b1")+doc("b2"))
	write(t, filepath.Join(dir, "a.yaml"), doc("a"))
	write(t, filepath.Join(dir, "broken.yaml"), "a: [")
	s := open(t, dir)
	load(t, s)
	var got []string
	for _, d := range s.Documents() {
		relative, err := filepath.Rel(dir, d.File)
		must(t, err)
		got = append(got, fmt.Sprintf("%s %d %d", relative, d.Number, d.Objects.Len()))
	}
	want := []string{"a.yaml 1 1", "broken.yaml 1 0", "sub/b.yaml 1 1", "sub/b.yaml 2 1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
}

func TestLoadKeepsPointers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.yaml"), filepath.Join(dir, "b.yaml")
	write(t, a, doc("a1")+doc("a2"))
	write(t, b, doc("b"))
	age(t, b)
	s := open(t, dir)
	first := load(t, s).Objects.Namespaces
	write(t, a, doc("a1")+doc("a3"))                // one document of it changed
	must(t, os.WriteFile(b, []byte(doc("b")), 0o0)) // the same bytes, another time
	second := load(t, s).Objects.Namespaces
	if len(second) != 3 || second[0] != first[0] || second[1] == first[1] || second[2] != first[2] {
		t.Errorf("want a1 and b to be what they were, got %v then %v", first, second)
	}
}

// Two writes within one tick of the file system's clock, of the same size.
func TestLoadSeesTheSecondOfTwoWrites(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.yaml")
	write(t, path, doc("a"))
	s := open(t, path)
	before, err := os.Stat(path)
	must(t, err)
	load(t, s)
	write(t, path, doc("b"))
	must(t, os.Chtimes(path, before.ModTime(), before.ModTime()))
	if got := names(load(t, s)); got != "b" {
		t.Errorf("want b, got %s", got)
	}
}

// An old file of which neither size nor time changed is not read again.
func TestLoadDoesNotReadWhatDidNotChange(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.yaml")
	write(t, path, doc("a"))
	age(t, path)
	s := open(t, path)
	before, err := os.Stat(path)
	must(t, err)
	load(t, s)
	write(t, path, doc("b"))
	must(t, os.Chtimes(path, before.ModTime(), before.ModTime()))
	if got := names(load(t, s)); got != "a" {
		t.Errorf("want a, got %s: the file was read although nothing tells a change", got)
	}
}

// A file goes through versions; after each, what it gives and what is said.
func TestLoadBrokenFiles(t *testing.T) {
	t.Parallel()
	type version struct{ text, want, err string }
	const badName = `a.yaml: document 2: Namespace B: metadata.name: want a name of lower-case letters, digits, "-" and ".", at most 253 characters (got "B")`
	const badYAML = "a.yaml: document 1: want YAML: near line 1: did not find expected node content"
	const empty = "a.yaml: want documents (got an empty file): delete the file to remove its objects"
	cases := map[string][]version{
		"a good file breaks and is mended":  {{doc("a"), "a", ""}, {"{", "a", badYAML}, {doc("b"), "b", ""}},
		"one document of a good file":       {{doc("a"), "a", ""}, {doc("b") + doc("B"), "a", badName}, {doc("b") + doc("c"), "b c", ""}},
		"never good: the good documents":    {{doc("b") + doc("B"), "b", badName}, {"{", "b", badYAML}, {doc("c"), "c", ""}},
		"nothing at first":                  {{"{", "", badYAML}, {doc("b") + doc("B"), "b", badName}},
		"emptied":                           {{doc("a"), "a", ""}, {" \n", "a", empty}, {doc("a"), "a", ""}},
		"emptied while broken":              {{doc("b") + doc("B"), "b", badName}, {"", "b", empty}},
		"its last document is taken away":   {{doc("a"), "a", ""}, {"# nothing here now\n", "", ""}},
		"back to what it was while broken":  {{doc("a"), "a", ""}, {"{", "a", badYAML}, {doc("a"), "a", ""}},
		"the same broken version once more": {{doc("a"), "a", ""}, {"{", "a", badYAML}, {"{", "a", badYAML}},
	}
	for name, versions := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, "z.yaml"), doc("z"))
			s := open(t, dir)
			for i, v := range versions {
				write(t, filepath.Join(dir, "a.yaml"), v.text)
				r := load(t, s)
				if got := strings.TrimSpace(v.want + " z"); names(r) != got {
					t.Errorf("version %d: want %q, got %q", i, got, names(r))
				}
				if got := strings.Join(errorsOf(r, dir), "|"); got != v.err {
					t.Errorf("version %d: want error %q, got %q", i, v.err, got)
				}
			}
		})
	}
}

func TestLoadDeletedFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.yaml"), doc("a"))
	write(t, filepath.Join(dir, "sub", "b.yaml"), doc("b"))
	s := open(t, dir)
	load(t, s)
	must(t, os.RemoveAll(filepath.Join(dir, "sub")))
	if r := load(t, s); names(r) != "a" || len(r.Errors) > 0 {
		t.Errorf("want a, got %q, errors %v", names(r), r.Errors)
	}
	must(t, os.Remove(filepath.Join(dir, "a.yaml")))
	if r := load(t, s); names(r) != "" || len(r.Errors) > 0 || r.Files != 0 {
		t.Errorf("want nothing, got %q in %d files, errors %v", names(r), r.Files, r.Errors)
	}
}

// A file that is listed and gone when it is to be read is a deleted file.
func TestFileGoneBetweenListingAndReading(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	path := filepath.Join(dir, "a.yaml")
	if present := s.readAll(t.Context(), []string{path}); present[path] || len(s.files[path].errs) > 0 {
		t.Errorf("present %v, errors %v", present, s.files[path].errs)
	}
}

func TestLoadUnreadable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := filepath.Join(dir, "a.yaml")
	write(t, a, doc("a"))
	s := open(t, dir)
	load(t, s)
	must(t, os.Remove(a))
	must(t, os.Symlink("a.yaml", a)) // nobody can open it, not even root
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe.yaml"), 0o644))
	r := load(t, s)
	want := []string{"a.yaml: too many levels of symbolic links", "pipe.yaml: want a regular file"}
	if diff := cmp.Diff(want, errorsOf(r, dir)); diff != "" || names(r) != "a" {
		t.Errorf("objects %q, errors (-want +got):\n%s", names(r), diff)
	}
	must(t, os.Remove(a))
	write(t, a, doc("a"))
	if diff := cmp.Diff(want[1:], errorsOf(load(t, s), dir)); diff != "" {
		t.Errorf("mended, errors (-want +got):\n%s", diff)
	}
}

// What is in a directory that cannot be read is not taken for deleted.
func TestUnreadableDirectoryHidesItsFiles(t *testing.T) {
	t.Parallel()
	l := listing{unreadable: []string{"/m/sub"}}
	for path, want := range map[string]bool{"/m/sub/a.yaml": true, "/m/sub/deep/a.yaml": true, "/m/a.yaml": false, "/m/subway/a.yaml": false} {
		if got := l.hides(path); got != want {
			t.Errorf("%s: want %v, got %v", path, want, got)
		}
	}
}

func TestRootIsMissing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "manifests")
	if _, err := Open(dir, slog.New(slog.DiscardHandler)); err == nil || err.Error() != "manifests: stat "+dir+": no such file or directory" {
		t.Errorf("open: %v", err)
	}
	must(t, os.Mkdir(dir, 0o755))
	s := open(t, dir)
	if r := load(t, s); r.Files != 0 || len(r.Errors) > 0 {
		t.Errorf("an empty directory: %+v", r)
	}
	write(t, filepath.Join(dir, "a.yaml"), doc("a"))
	load(t, s)
	must(t, os.RemoveAll(dir))
	if _, err := s.Load(t.Context()); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("load: %v", err)
	}
}

func TestLoadOneFileAndStdin(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "manifest.txt")
	write(t, path, doc("a"))
	if r := load(t, open(t, path)); names(r) != "a" || r.Files != 1 {
		t.Errorf("a file by name: got %q in %d files", names(r), r.Files)
	}
	s := open(t, Stdin)
	stdin := strings.NewReader(doc("a") + doc("B"))
	s.readStream = func() ([]byte, error) { return io.ReadAll(stdin) }
	for range 2 {
		r := load(t, s)
		if names(r) != "a" || len(r.Errors) != 1 || !strings.HasPrefix(r.Errors[0].Error(), "stdin: document 2: Namespace B:") {
			t.Errorf("standard input: got %q, errors %v", names(r), r.Errors)
		}
	}
	changes, err := s.Watch(t.Context())
	if err != nil || changes == nil {
		t.Errorf("watch: %v", err)
	}
}

func TestLoadStops(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.yaml"), doc("a"))
	s := open(t, dir)
	load(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Load(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if got := names(load(t, s)); got != "a" {
		t.Errorf("after that: got %q", got)
	}
}

func TestLoadManyFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var want []string
	for i := range 500 {
		name := fmt.Sprintf("n%03d", i)
		want = append(want, name)
		write(t, filepath.Join(dir, name+".yaml"), doc(name))
	}
	slices.Sort(want)
	if diff := cmp.Diff(strings.Join(want, " "), names(load(t, open(t, dir)))); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}
