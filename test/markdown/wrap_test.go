package markdown

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "wrap the pages that have longer lines")

const root = "../.."

// TestPagesAreWrapped holds each Markdown file of the repository to Width.
func TestPagesAreWrapped(t *testing.T) {
	t.Parallel()
	pages := 0
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != "." && (strings.HasPrefix(entry.Name(), ".") || path == "dist") {
			return fs.SkipDir
		}
		if !entry.IsDir() && strings.HasSuffix(path, ".md") {
			pages++
			wrapped(t, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if pages < 30 {
		t.Errorf("found only %d pages: the walk looks in the wrong place", pages)
	}
}

// wrapped compares a page with itself wrapped, or wraps it.
func wrapped(t *testing.T, path string) {
	t.Helper()
	file := filepath.Join(root, path)
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := Wrap(string(content))
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(strings.Split(string(content), "\n"), strings.Split(want, "\n")); diff != "" {
		t.Errorf("%s has lines of prose with more than %d characters; `go test ./test/markdown -update` wraps them (-page +wrapped):\n%s", path, Width, diff)
	}
}

const x90 = "xxxxxxxxx xxxxxxxxx xxxxxxxxx xxxxxxxxx xxxxxxxxx xxxxxxxxx xxxxxxxxx xxxxxxxxx xxxxxxxxxx"

func TestWrap(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"a paragraph":                     {x90 + " and more words", x90 + " and more\nwords"},
		"its other lines are filled":      {"a\n" + x90 + " and more words", "a " + x90 + " and\nmore words"},
		"an item":                         {"- " + x90 + " and more", "- " + x90 + " and\n  more"},
		"a numbered item":                 {"10. " + x90 + " and more", "10. " + x90 + " and\n    more"},
		"a nested item":                   {"- a\n  - " + x90 + " and more", "- a\n  - " + x90 + " and\n    more"},
		"the second paragraph of an item": {"- a\n\n  " + x90 + " and more", "- a\n\n  " + x90 + " and\n  more"},
		"a link stays whole":              {x90 + " [a link](to.md)", x90 + "\n[a link](to.md)"},
		"a code span stays whole":         {x90 + " `some code`.", x90 + "\n`some code`."},
		"a code span with backticks":      {x90 + " ``some ` code``", x90 + "\n``some ` code``"},
		"an escaped bracket is no link":   {x90 + ` \[a bcd](e)`, x90 + ` \[a` + "\nbcd](e)"},
		"no line begins a list":           {x90 + " 11111111 - b", x90 + " 11111111 -\nb"},
		"no line begins a numbered list":  {x90 + " 11111111 2. b", x90 + " 11111111 2.\nb"},
		"a hard break":                    {x90 + " and more words  \nb", x90 + " and more\nwords  \nb"},
		"characters, not bytes":           {strings.Repeat("é", 99), strings.Repeat("é", 99)},
	} {
		if got := Wrap(c.in); got != c.want {
			t.Errorf("%s: -want +got:\n%s", name, cmp.Diff(c.want, got))
		}
		if again := Wrap(c.want); again != c.want {
			t.Errorf("%s: wrapped twice it is another text:\n%s", name, again)
		}
	}
}

func TestKeptLines(t *testing.T) {
	t.Parallel()
	long := x90 + " " + x90
	for name, text := range map[string]string{
		"a heading":         "## " + long,
		"a table":           "| " + long + " |\n|---|\n| " + long + " |",
		"fenced code":       "a\n```sh\n" + long + "\n```\nb",
		"a fence in a list": "- a\n\n  ~~~text\n  " + long + "\n  ~~~",
		"indented code":     "a\n\n    " + long,
		"a comment":         "<!-- " + long + " -->",
		"a long comment":    "<!--\n" + long + "\n-->",
		"a link definition": "[a]: " + long,
		"a long link":       "[" + long + "](a.md)",
		"short lines":       "a\nb\n- c\nd\n",
	} {
		if got := Wrap(text); got != text {
			t.Errorf("%s: -want +got:\n%s", name, cmp.Diff(text, got))
		}
	}
}
