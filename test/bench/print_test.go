package bench

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTableIsPrinted(t *testing.T) {
	t.Parallel()
	var tab table
	tab.rows = []figure{
		{what: "start", work: "1,000", unit: "s", samples: []float64{0.5}, budget: 1, baseline: 0.25, beside: "nginx by hand", peers: peers{7.3, 1.35, "HAProxy"}},
		{what: "start", work: "10,000", unit: "s", samples: []float64{7}, budget: 6},
		{what: "memory", work: "5,000", unit: "MB", samples: []float64{3, 1, 2}, peers: peers{4890, 629, ""}},
		{what: "nginx.conf", work: "100", unit: "MB", samples: []float64{0.1}, peers: peers{ingressNginx: 1.6}},
		{what: "throughput", work: "log on", unit: "x", samples: []float64{0.94, 0.9}, budget: 0.95, atLeast: true},
		{what: "failed", work: "of 9", unit: "requests", samples: []float64{0}, none: true},
	}
	var out strings.Builder
	tab.print(&out)
	want := `
what        work    figure          of              budget            ingress-nginx  best other      baseline  baseline is
start       1,000   0.500 s         1               <= 1.00   met     7.30           1.35 (HAProxy)  0.250     nginx by hand
start       10,000  7.00 s          1               <= 6.00   MISSED  -              -               -
memory      5,000   2.00 MB         3: 1.00 to 3.00 -                 4890           629.0           -
nginx.conf  100     0.100 MB        1               -                 1.60           -               -
throughput  log on  0.920 x         2: 0.900 to 0.940 >= 0.950 MISSED -              -               -
failed      of 9    0.000 requests  1               0         met     -              -               -
`
	if diff := cmp.Diff(columnsOf(want), columnsOf(out.String())); diff != "" {
		t.Errorf("%s\n%s", diff, out.String())
	}
	if first, second, _ := strings.Cut(strings.TrimPrefix(out.String(), "\n"), "\n"); strings.Index(first, "ingress-nginx") != strings.Index(second, "7.30") {
		t.Errorf("the columns are not below each other:\n%s", out.String())
	}
}

// columnsOf gives the words of each line.
func columnsOf(text string) [][]string {
	var lines [][]string
	for line := range strings.Lines(strings.TrimSpace(text)) {
		lines = append(lines, strings.Fields(line))
	}
	return lines
}

// What others were measured at is printed beside a figure of that name.
func TestPeersHaveTheirFigures(t *testing.T) {
	t.Parallel()
	var scale, loads []string
	for _, f := range (&life{n: 100}).figures(handFigures{}) {
		scale = append(scale, f.what)
	}
	for what, sizes := range scalePeers {
		if !slices.Contains(scale, what) {
			t.Errorf("no figure is named %q", what)
		}
		for _, n := range []int{100, 1_000, 5_000} {
			if sizes[n].ingressNginx == 0 {
				t.Errorf("%s, %d: ingress-nginx was measured", what, n)
			}
		}
		if _, measured := sizes[10_000]; measured {
			t.Errorf("%s: nobody was measured at 10,000", what)
		}
	}
	for _, f := range (&traffic{}).figuresBeside(bareName, &traffic{}) {
		if f.peers == (peers{}) {
			t.Errorf("%s has no peers", f.what)
		}
		loads = append(loads, f.what)
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
	for what, sizes := range scalePeers {
		if cell := cells(sizes, func(p peers) float64 { return p.ingressNginx }); !strings.Contains(text, "| "+cell+" |") {
			t.Errorf("%s: docs/benchmarks.md has not %q", what, cell)
		}
		if cell := cells(sizes, func(p peers) float64 { return p.other }); cell != "- / - / - / -" && !strings.Contains(text, "| "+cell) {
			t.Errorf("%s: docs/benchmarks.md has not %q", what, cell)
		}
	}
	for what, p := range trafficPeers {
		if cell := written(p.ingressNginx) + " | " + written(p.other); !strings.Contains(text, cell) {
			t.Errorf("%s: docs/benchmarks.md has not %q", what, cell)
		}
	}
}

// cells writes a figure of all sizes.
func cells(sizes map[int]peers, pick func(peers) float64) string {
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
		return thousands(int(v))
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
