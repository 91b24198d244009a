package templatedir

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/templates"
)

// folder copies the built-in templates to a new folder, with a comment that
// tells it from others.
func folder(t *testing.T, comment string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "templates")
	if err := os.CopyFS(dir, templates.Files); err != nil {
		t.Fatal(err)
	}
	mark(t, dir, comment)
	return dir
}

// mark appends a comment to a template by a rename, as editors do.
func mark(t *testing.T, dir, comment string) {
	t.Helper()
	path := filepath.Join(dir, "server.tmpl")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+"~", append(content, "{{/* "+comment+" */}}"...), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+"~", path); err != nil {
		t.Fatal(err)
	}
}

func watched(t *testing.T, dir string) *Source {
	t.Helper()
	s, err := Open(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Watch(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// lines hands each line of a log over.
type lines chan string

func (l lines) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

func (s *Source) awaitChange(t *testing.T, what string) {
	t.Helper()
	select {
	case <-s.Changes():
	case <-time.After(2 * time.Minute):
		t.Fatalf("%s was not seen", what)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestTemplateFolderThatIsReplaced(t *testing.T) {
	t.Parallel()
	dir, other := folder(t, "one"), folder(t, "two")
	s := watched(t, dir)
	mark(t, dir, "an edit")
	s.awaitChange(t, "an edit")
	must(t, os.Rename(dir, dir+".old"))
	must(t, os.Rename(other, dir))
	s.awaitChange(t, "another folder in its place")
	mark(t, dir, "an edit of the other")
	s.awaitChange(t, "an edit in the other folder")
}

func TestTemplateFolderThatIsRemovedAndComesBack(t *testing.T) {
	t.Parallel()
	dir, other := folder(t, "one"), folder(t, "two")
	said := make(lines, 10)
	s, err := Open(dir, slog.New(slog.NewTextHandler(said, nil)))
	must(t, err)
	must(t, s.Watch(t.Context()))
	before := s.Current()
	must(t, os.RemoveAll(filepath.Dir(dir)))
	<-said
	must(t, os.MkdirAll(filepath.Dir(dir), 0o755))
	must(t, os.Rename(other, dir))
	s.awaitChange(t, "the folder that came back")
	if s.Current() == before {
		t.Error("the former templates are in force")
	}
}

func TestTemplateFolderBehindALink(t *testing.T) {
	t.Parallel()
	dir, other := folder(t, "one"), folder(t, "two")
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(dir, link))
	s := watched(t, link)
	mark(t, dir, "an edit")
	s.awaitChange(t, "an edit behind the link")
	must(t, os.Symlink(other, link+".new"))
	must(t, os.Rename(link+".new", link))
	s.awaitChange(t, "another link")
}

// TestTemplatesThatDoNotLoadAreReportedOnce, and the ones before stay.
func TestTemplatesThatDoNotLoadAreReportedOnce(t *testing.T) {
	t.Parallel()
	dir := folder(t, "one")
	var log strings.Builder
	s, err := Open(dir, slog.New(slog.NewTextHandler(&log, nil)))
	must(t, err)
	before := s.Current()
	for range 3 {
		s.complain(os.ErrNotExist)
	}
	if lines := strings.Count(log.String(), "\n"); lines != 1 || s.Current() != before {
		t.Errorf("%d lines:\n%s", lines, log.String())
	}
}
