package measure

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTableIsPrinted(t *testing.T) {
	t.Parallel()
	var tab Table
	tab.rows = []Figure{
		{What: "start", Work: "1,000", Unit: "s", Samples: []float64{0.5}, Budget: 1, Baseline: 0.25, Beside: "nginx by hand", Peers: Peers{7.3, 1.35, "HAProxy"}},
		{What: "start", Work: "10,000", Unit: "s", Samples: []float64{7}, Budget: 6},
		{What: "memory", Work: "5,000", Unit: "MB", Samples: []float64{3, 1, 2}, Peers: Peers{4890, 629, ""}},
		{What: "nginx.conf", Work: "100", Unit: "MB", Samples: []float64{0.1}, Peers: Peers{IngressNginx: 1.6}},
		{What: "throughput", Work: "log on", Unit: "x", Samples: []float64{0.94, 0.9}, Budget: 0.95, AtLeast: true},
		{What: "failed", Work: "of 9", Unit: "requests", Samples: []float64{0}, None: true},
	}
	var out strings.Builder
	tab.Print(&out)
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

func TestMiddleAndEndOfSamples(t *testing.T) {
	t.Parallel()
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(100 - i)
	}
	for _, c := range []struct {
		samples     []float64
		median, p99 float64
	}{
		{nil, 0, 0},
		{[]float64{3}, 3, 3},
		{[]float64{4, 1, 2}, 2, 4},
		{hundred[:20], 90.5, 100},
		{hundred, 50.5, 99},
	} {
		if m, p := Median(c.samples), P99(c.samples); m != c.median || p != c.p99 {
			t.Errorf("%v: median %v, want %v; p99 %v, want %v", c.samples, m, c.median, p, c.p99)
		}
	}
}
