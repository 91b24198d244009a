// Package golden shows what Sluice makes of manifests, a behaviour a file.
//
// A case is a txtar archive in cases/: a sentence that says what it shows, the
// manifests, and what is expected of them. Every case is worked out again with
// its objects in other orders and must give the same bytes; every configuration
// is loaded by every nginx that is there; and the requests of a case are answered
// by route.Match and by one of those nginx, or by each (eachAsks), which have to agree.
//
// The parts of an archive:
//
//	manifests.yaml  the objects; "# base: NAME.yaml" puts a file of base/ there
//	claims.yaml     further owners with their claims, as a list of claim.Object;
//	                what guard and lint are asked is of the objects only
//	options         lines KEY=VALUE, see the function set
//	routes          the rows of route.Table, two spaces between columns
//	requests        METHOD URL -> LOCATION  ANSWER, see request_test.go
//	log             what the requests leave in the access log, which in a test is
//	                a file of its own wherever the case says it is
//	backends        what nginx is told of backends whose endpoints are not picked in
//	                turn, and of splits: KEY JSON
//	nginx.conf      parts that must occur, apart from white space; a blank line
//	                ends a part, a leading "! " means that it must not occur
//	refused         what every nginx says against the configuration, which it must
//	                refuse: the owner is then in quarantine, see test/e2e
//	problems        all problems, as REASON OBJECT: FIELD: TEXT
//	lint            what sluice lint prints; its lines are those of the part
//	                manifests.yaml, which may then hold objects that do not decode
//
// All but the first are left out where they say nothing about the case.
// `make golden CASE=NAME` runs one case; with UPDATE=1 it writes its routes, requests,
// log, backends, problems and lint anew, as `make golden` does for all cases.
package golden

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/test/kit"
)

var update = flag.Bool("update", false, "write the expectations anew")

func TestMain(m *testing.M) {
	kit.TwoTestsPerCore()
	debug.SetGCPercent(400) // as in package injection
	os.Exit(m.Run())
}

func TestCases(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("cases/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases found: %v", err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runCase(t, readCase(t, path))
		})
	}
}

// runCase works a case out and compares, or rewrites it.
func runCase(t *testing.T, c *testCase) {
	got := workedOut(t, c)
	c.expect(t, "routes", got.routes())
	c.expect(t, "backends", got.backends())
	c.expect(t, "traces", got.traces())
	c.expect(t, "problems", got.problemLines())
	c.expect(t, "lint", got.lintLines(t))
	c.expectParts(t, string(got.file.Bytes()))
	c.expectStable(t, got)
	got.expectGuarded(t)
	able := slices.DeleteFunc(slices.Clone(kit.Nginxes(t)), func(n kit.Nginx) bool { return !got.isServedBy(n) })
	answers, logged := "", ""
	for i, installed := range able {
		if !c.asks(t, i, len(able)) {
			loadCase(t, got, installed)
			continue
		}
		lines, log := serveCase(t, c, got, installed)
		if answers != "" && lines+log != answers+logged {
			t.Errorf("%s answers otherwise than the first nginx:\n%s", installed.Name, cmp.Diff(answers+logged, lines+log))
		}
		answers, logged = lines, log
	}
	if answers != "" || got.isServedBy(kit.Nginxes(t)[0]) {
		c.expect(t, "requests", answers)
		c.expect(t, "log", logged)
	}
	if *update {
		c.write(t)
	}
}

// expectStable works the case out again in other orders, and once more from scratch:
// neither may change a byte. Of a model and Problems that are equal, the file and lint are
// made once more only.
func (c *testCase) expectStable(t *testing.T, want *outcome) {
	t.Helper()
	texts := func(o *outcome) map[string]string {
		return map[string]string{
			"nginx.conf": string(o.file.Bytes()), "problems": o.problemLines(), "lint": o.lintLines(t), "runtime state": fmt.Sprint(describeRuntime(o)),
		}
	}
	wanted := texts(want)
	for seed := range 4 {
		got := modelOf(t, c, seed+1)
		if seed > 0 && reflect.DeepEqual(got.config, want.config) && slices.Equal(got.translated, want.translated) {
			continue
		}
		got.print(t)
		for what, text := range texts(got) {
			if diff := cmp.Diff(wanted[what], text); diff != "" {
				t.Errorf("objects in another order (seed %d) give another %s:\n%s", seed+1, what, diff)
			}
		}
	}
}

// testFunction is how a test begins.
var testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// allTests gives the names of all tests, of all modules.
func allTests(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range testFunction.FindAllSubmatch(text, -1) {
			names[string(found[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestDifferencesAreShown holds docs/differences.md to the cases and tests that it
// names.
func TestDifferencesAreShown(t *testing.T) {
	t.Parallel()
	tests := allTests(t)
	text, err := os.ReadFile("../../docs/differences.md")
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for line := range strings.Lines(string(text)) {
		columns := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		last := strings.TrimSpace(columns[len(columns)-1])
		if len(columns) != 5 || last == "case" || last == "---" || last == "end-to-end tests" || last == "compatibility tests" {
			continue
		}
		for name := range strings.SplitSeq(last, ", ") {
			named++
			if strings.HasPrefix(name, "Test") {
				if !tests[name] {
					t.Errorf("docs/differences.md names the test %q: there is none", name)
				}
				continue
			}
			if _, err := os.Stat(filepath.Join("cases", name+".txtar")); err != nil {
				t.Errorf("docs/differences.md names the case %q: %v", name, err)
			}
		}
	}
	if named == 0 {
		t.Error("docs/differences.md names no case: is its table another one now?")
	}
}
