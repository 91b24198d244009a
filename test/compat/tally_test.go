package compat

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"sluice/test/recorded"
)

// tally counts requests by what came of them, for each feature of their
// scenarios; that of all is everyFeature.
type tally struct {
	mu     sync.Mutex
	counts map[string]*count
}

// count is one feature's.
type count struct {
	scenarios map[string]bool
	requests  [wrong + 1]int
}

// everyFeature stands for all scenarios, each counted once.
const everyFeature = "all"

func (y *tally) add(s *recorded.Scenario, v verdict) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.counts == nil {
		y.counts = map[string]*count{}
	}
	for _, feature := range append(slices.Clone(s.Features), everyFeature) {
		c := y.counts[feature]
		if c == nil {
			c = &count{scenarios: map[string]bool{}}
			y.counts[feature] = c
		}
		c.scenarios[s.Name] = true
		c.requests[v]++
	}
}

// String is a table, the features by name.
func (y *tally) String() string {
	y.mu.Lock()
	defer y.mu.Unlock()
	var out strings.Builder
	out.WriteString("| feature | scenarios | requests | agree | differ on purpose | not built yet |\n|---|---|---|---|---|---|\n")
	features := slices.DeleteFunc(slices.Sorted(maps.Keys(y.counts)), func(name string) bool { return name == everyFeature })
	for _, feature := range append(features, everyFeature) {
		c := y.counts[feature]
		if c == nil {
			continue // no request was asked
		}
		requests := 0
		for _, n := range c.requests {
			requests += n
		}
		fmt.Fprintf(&out, "| %s | %d | %d | %d | %d | %d |\n", feature, len(c.scenarios), requests, c.requests[agrees], c.requests[onPurpose], c.requests[missing])
	}
	if c := y.counts[everyFeature]; c != nil && c.requests[wrong] > 0 {
		fmt.Fprintf(&out, "\n%d requests are not answered as they must be.\n", c.requests[wrong])
	}
	return out.String()
}

// foretold is the tally of all scenarios by the lists of differences, which
// TestAnswersAreThoseOfIngressNginx holds to be exact.
func foretold(t *testing.T) *tally {
	t.Helper()
	y := &tally{}
	for _, s := range recorded.Read(t) {
		for i := range s.Requests {
			if s.Requests[i].Change == nil {
				v, _ := expected(s.Question(i))
				y.add(s, v)
			}
		}
	}
	return y
}

func TestTally(t *testing.T) {
	t.Parallel()
	y := &tally{}
	if got := y.String(); strings.Count(got, "\n") != 2 {
		t.Errorf("a table of nothing:\n%s", got)
	}
	first, second := &recorded.Scenario{Name: "first", Features: []string{"b", "a"}}, &recorded.Scenario{Name: "second", Features: []string{"b"}}
	for _, v := range []verdict{agrees, agrees, onPurpose, wrong} {
		y.add(first, v)
	}
	y.add(second, missing)
	want := `| feature | scenarios | requests | agree | differ on purpose | not built yet |
|---|---|---|---|---|---|
| a | 1 | 4 | 2 | 1 | 0 |
| b | 2 | 5 | 2 | 1 | 1 |
| all | 2 | 5 | 2 | 1 | 1 |

1 requests are not answered as they must be.
`
	if got := y.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
