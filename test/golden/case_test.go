package golden

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"sluice/internal/lint"
	"sluice/internal/manifest/decode"
	"sluice/internal/snapshot"
)

// sections are the parts that a case may have.
var sections = []string{"manifests.yaml", "claims.yaml", "options", "not-served", "routes", "requests", "log", "backends", "traces", "nginx.conf", "refused", "problems", "lint"}

// testCase is one archive.
type testCase struct {
	path    string
	archive *txtar.Archive
	// decoded is what the manifests hold, shared with others since the first use.
	decoded *lint.Manifests
}

func readCase(t *testing.T, path string) *testCase {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(strings.TrimSpace(string(archive.Comment)), ".") {
		t.Error("a case begins with a sentence that says what it shows")
	}
	for _, file := range archive.Files {
		if !slices.Contains(sections, file.Name) {
			t.Errorf("unknown part %q: want one of %v", file.Name, sections)
		}
	}
	return &testCase{path: path, archive: archive}
}

// section gives the text of a part, and whether the case has it.
func (c *testCase) section(name string) (string, bool) {
	for _, file := range c.archive.Files {
		if file.Name == name {
			return string(file.Data), true
		}
	}
	return "", false
}

// manifests are the objects of the case and of its bases. The lists are the
// caller's, the objects are not. What does not decode is for cases about lint.
func (c *testCase) manifests(t *testing.T) lint.Manifests {
	t.Helper()
	if c.decoded == nil {
		text, _ := c.section("manifests.yaml")
		shared, found := decoded.Load(text)
		if !found {
			all := c.decode(t)
			shared, _ = decoded.LoadOrStore(text, &all)
		}
		c.decoded = shared.(*lint.Manifests)
	}
	if _, about := c.section("lint"); !about && len(c.decoded.Errors) > 0 {
		t.Fatal(errors.Join(c.decoded.Errors...))
	}
	all := *c.decoded
	all.Objects = snapshot.Objects{}
	all.Objects.Append(c.decoded.Objects)
	return all
}

// decoded are the manifests of all cases, by their text: many tests read each case.
var decoded sync.Map

func (c *testCase) decode(t *testing.T) lint.Manifests {
	t.Helper()
	text, ok := c.section("manifests.yaml")
	if !ok {
		t.Fatal("a case needs manifests.yaml")
	}
	var all lint.Manifests
	for line := range strings.Lines(text) {
		if name, isBase := strings.CutPrefix(strings.TrimSpace(line), "# base: "); isBase {
			base, err := os.ReadFile(filepath.Join("base", name))
			if err != nil {
				t.Fatal(err)
			}
			take(&all, "base/"+name, base)
		}
	}
	take(&all, "manifests.yaml", []byte(text))
	return all
}

// take reads a file.
func take(all *lint.Manifests, name string, text []byte) {
	var reader decode.Reader
	objects, notes, err := reader.Read(name, text)
	all.Objects.Append(objects)
	all.Documents = append(all.Documents, reader.Documents()...)
	all.Notes, all.Errors = append(all.Notes, notes...), append(all.Errors, decode.Errors(err)...)
}

// expect compares a part with what came out, or takes that over with -update.
// A part that the case does not have is not compared.
func (c *testCase) expect(t *testing.T, name, got string) {
	t.Helper()
	want, ok := c.section(name)
	if !ok {
		return
	}
	if *update {
		i := slices.IndexFunc(c.archive.Files, func(f txtar.File) bool { return f.Name == name })
		c.archive.Files[i].Data = []byte(got)
		return
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// expectParts looks for the parts of the section nginx.conf.
func (c *testCase) expectParts(t *testing.T, conf string) {
	t.Helper()
	text, _ := c.section("nginx.conf")
	for _, fault := range missingParts(text, conf) {
		t.Errorf("nginx.conf: %s\n%s", fault, conf)
	}
}

// missingParts compares parts with a configuration, white space aside.
func missingParts(parts, conf string) []string {
	var faults []string
	flat := flatten(conf)
	for part := range strings.SplitSeq(parts, "\n\n") {
		unwanted, negative := strings.CutPrefix(strings.TrimSpace(part), "! ")
		switch {
		case strings.TrimSpace(part) == "":
		case negative && strings.Contains(flat, flatten(unwanted)):
			faults = append(faults, "must not hold: "+unwanted)
		case !negative && !strings.Contains(flat, flatten(part)):
			faults = append(faults, "does not hold: "+part)
		}
	}
	return faults
}

// flatten makes every run of white space one space.
func flatten(text string) string { return strings.Join(strings.Fields(text), " ") }

func (c *testCase) write(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(c.path, txtar.Format(c.archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestMissingParts(t *testing.T) {
	t.Parallel()
	conf := "server {\n    listen 80;\n}\n"
	for parts, faults := range map[string]int{
		"server { listen 80; }":      0,
		"listen 80;\n\n! listen 81;": 0,
		"listen 81;":                 1,
		"! listen\n80;":              1,
		"listen 80;\n\nlisten 81;\n": 1,
	} {
		if got := missingParts(parts, conf); len(got) != faults {
			t.Errorf("%q: got %v, want %d faults", parts, got, faults)
		}
	}
}
