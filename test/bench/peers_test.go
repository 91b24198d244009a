package bench

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sluice/test/bench/measure"
)

// What others were measured at is printed beside a figure of that name.
func TestPeersHaveTheirFigures(t *testing.T) {
	t.Parallel()
	var scale, loads []string
	for _, f := range (&life{n: 100}).figures(handFigures{}) {
		scale = append(scale, f.What)
	}
	for what, sizes := range measure.ScalePeers {
		if !slices.Contains(scale, what) {
			t.Errorf("no figure is named %q", what)
		}
		for _, n := range []int{100, 1_000, 5_000} {
			if sizes[n].IngressNginx == 0 {
				t.Errorf("%s, %d: ingress-nginx was measured", what, n)
			}
		}
		if _, measured := sizes[10_000]; measured {
			t.Errorf("%s: nobody was measured at 10,000", what)
		}
	}
	for _, f := range (&traffic{}).figuresBeside(bareName, &traffic{}) {
		if f.Peers == (measure.Peers{}) {
			t.Errorf("%s has no peers", f.What)
		}
		loads = append(loads, f.What)
	}
	if len(loads) != len(trafficPeers) {
		t.Errorf("figures %q for %d peers", loads, len(trafficPeers))
	}
}

// docs/benchmarks.md says the same of others as the table.
func TestPeersAreInTheDocs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/benchmarks.md")
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(` \([^)|]*\)`).ReplaceAllString(string(page), "") // names of others
	for what, sizes := range measure.ScalePeers {
		if cell := cells(sizes, func(p measure.Peers) float64 { return p.IngressNginx }); !strings.Contains(text, "| "+cell+" |") {
			t.Errorf("%s: docs/benchmarks.md has not %q", what, cell)
		}
		if cell := cells(sizes, func(p measure.Peers) float64 { return p.Other }); cell != "- / - / - / -" && !strings.Contains(text, "| "+cell) {
			t.Errorf("%s: docs/benchmarks.md has not %q", what, cell)
		}
	}
	for what, p := range trafficPeers {
		if cell := written(p.IngressNginx) + " | " + written(p.Other); !strings.Contains(text, cell) {
			t.Errorf("%s: docs/benchmarks.md has not %q", what, cell)
		}
	}
}

// cells writes a figure of all sizes.
func cells(sizes map[int]measure.Peers, pick func(measure.Peers) float64) string {
	var list []string
	for _, n := range []int{100, 1_000, 5_000, 10_000} {
		list = append(list, written(pick(sizes[n])))
	}
	return strings.Join(list, " / ")
}

func written(v float64) string {
	switch {
	case v == 0:
		return "-"
	case v >= 1000:
		return measure.Thousands(int(v))
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
