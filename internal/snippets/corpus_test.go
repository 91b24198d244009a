package snippets

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write the expectations of the corpus anew")

// entry is a snippet of the corpus.
type entry struct {
	name    string
	snippet Snippet
}

// corpus returns the snippets of a file. A section "name" or "name (server)" is a snippet.
// The words behind it are paths of the Ingress and annotations as name=value. The section
// "advice" behind it is the expectation.
func corpus(archive *txtar.Archive) []entry {
	var all []entry
	for _, file := range archive.Files {
		if file.Name == "advice" {
			continue
		}
		words := strings.Fields(file.Name)
		e := entry{name: words[0], snippet: Snippet{Text: string(file.Data), Given: map[string]string{}}}
		for _, word := range words[1:] {
			name, value, given := strings.Cut(word, "=")
			switch {
			case word == "(server)":
				e.snippet.Server = true
			case given:
				e.snippet.Given[name] = value
			default:
				e.snippet.Paths = append(e.snippet.Paths, word)
			}
		}
		if e.snippet.Paths == nil {
			e.snippet.Paths = []string{"/"}
		}
		all = append(all, e)
	}
	return all
}

func everything(t *testing.T) (all []entry) {
	t.Helper()
	for _, path := range files(t) {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, corpus(archive)...)
	}
	return all
}

func files(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("there is no corpus", err)
	}
	return paths
}

// printed is the expectation of a snippet.
func printed(s Snippet) string {
	advice, err := Read(s)
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	var out strings.Builder
	for _, a := range advice.Write {
		fmt.Fprintf(&out, "write %s\n", a.String(""))
		fmt.Fprintf(&out, "  for %s\n", a.Origin)
		if a.Where != "" {
			fmt.Fprintf(&out, "  in %s\n", a.Where)
		}
		if a.Also != "" {
			fmt.Fprintf(&out, "  %s\n", a.Also)
		}
	}
	for _, r := range advice.Needless {
		fmt.Fprintf(&out, "remove %s: %s\n", r.Origin, r.Text)
	}
	for _, r := range advice.Left {
		fmt.Fprintf(&out, "keep %s: %s\n", r.Origin, r.Text)
	}
	return out.String()
}

func TestCorpus(t *testing.T) {
	t.Parallel()
	for _, path := range files(t) {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var got txtar.Archive
		got.Comment = archive.Comment
		entries := corpus(archive)
		for _, file := range archive.Files {
			if file.Name == "advice" {
				continue
			}
			advice := printed(entries[0].snippet)
			entries = entries[1:]
			got.Files = append(got.Files, file, txtar.File{Name: "advice", Data: []byte(advice)})
		}
		text := txtar.Format(&got)
		if *update {
			if err := os.WriteFile(path, text, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if diff := cmp.Diff(string(txtar.Format(archive)), string(text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

// TestNothingIsLost: each directive of a snippet is in its advice.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	all := everything(t)
	if len(all) < 60 {
		t.Errorf("the corpus has %d snippets", len(all))
	}
	for _, e := range all {
		advice, err := Read(e.snippet)
		if err != nil {
			continue
		}
		var origins []Origin
		for _, a := range advice.Write {
			origins = append(origins, a.Origin)
		}
		for _, r := range slices.Concat(advice.Needless, advice.Left) {
			origins = append(origins, r.Origin)
		}
		for line, text := range strings.Split(e.snippet.Text, "\n") {
			for _, word := range []string{"return", "deny", "allow", "proxy_", "add_header", "more_", "rewrite", "set ", "expires"} {
				if strings.HasPrefix(strings.TrimSpace(text), word) && !slices.ContainsFunc(origins, func(o Origin) bool { return slices.Contains(o.Lines, line+1) }) && !insideLeft(advice, e.snippet.Text, line+1) {
					t.Errorf("%s: nothing is said about line %d: %s", e.name, line+1, text)
				}
			}
		}
	}
}

// insideLeft reports whether a line is in a block that is dealt with as a whole.
func insideLeft(advice Advice, text string, line int) bool {
	lines := strings.Split(text, "\n")
	for i := line - 2; i >= 0; i-- {
		if !strings.HasSuffix(strings.TrimSpace(lines[i]), "{") {
			continue
		}
		for _, r := range slices.Concat(advice.Left, advice.Needless) {
			if slices.Contains(r.Lines, i+1) {
				return true
			}
		}
		for _, a := range advice.Write {
			if slices.Contains(a.Lines, i+1) {
				return true
			}
		}
	}
	return false
}
