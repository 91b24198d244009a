package bench

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
)

// figure is one result: the median of its samples, beside what it may be and
// what the same costs by hand.
type figure struct {
	what string // "start"
	work string // "1,000"
	unit string
	// samples are what was measured; several are judged by their median.
	samples []float64
	// budget is the most it may be, or the least where atLeast is set; 0 is none.
	budget  float64
	atLeast bool
	// none is set where a budget of 0 means that there may be none.
	none bool
	// baseline is what beside means, measured in the same run; 0 is none.
	baseline float64
	beside   string
	// peers are what others need for the same.
	peers peers
}

func (f figure) value() float64 { return median(f.samples) }

func (f figure) verdict() string {
	switch {
	case f.budget == 0 && !f.none:
		return ""
	case f.atLeast && f.value() < f.budget, !f.atLeast && f.value() > f.budget:
		return "MISSED"
	}
	return "met"
}

// metric is the name for go test, which allows no spaces in it.
func (f figure) metric(more string) string {
	return strings.NewReplacer(" ", "-", ",", "", ":", "").Replace(f.what) + more + "-" + f.unit
}

// table collects the figures of all benchmarks.
type table struct {
	mu   sync.Mutex
	rows []figure
}

var results table

// report gives a figure to go test and to the table.
func (f figure) report(b *testing.B) {
	b.Helper()
	b.ReportMetric(f.value(), f.metric(""))
	if f.budget != 0 {
		b.ReportMetric(f.budget, f.metric("-budget"))
	}
	if f.baseline != 0 {
		b.ReportMetric(f.baseline, f.metric("-baseline"))
	}
	results.mu.Lock()
	defer results.mu.Unlock()
	results.rows = append(results.rows, f)
}

// print writes the table, one figure a line.
func (t *table) print(out io.Writer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "\nwhat\twork\tfigure\tof\tbudget\t\tingress-nginx\tbest other\tbaseline\tbaseline is")
	for _, f := range t.rows {
		fmt.Fprintf(w, "%s\t%s\t%s %s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", f.what, f.work, number(f.value()), f.unit, f.spread(), f.bound(), f.verdict(),
			optional(f.peers.ingressNginx), f.peers.best(), optional(f.baseline), f.beside)
	}
	w.Flush()
}

// bound is the budget with its direction.
func (f figure) bound() string {
	switch {
	case f.none:
		return "0"
	case f.budget == 0:
		return "-"
	case f.atLeast:
		return ">= " + number(f.budget)
	}
	return "<= " + number(f.budget)
}

// spread tells how many samples there were and how far apart.
func (f figure) spread() string {
	if len(f.samples) < 2 {
		return "1"
	}
	return fmt.Sprintf("%d: %s to %s", len(f.samples), number(slices.Min(f.samples)), number(slices.Max(f.samples)))
}

func number(v float64) string {
	switch {
	case v >= 1000:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	case v >= 1:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.3f", v)
}

func optional(v float64) string {
	if v == 0 {
		return "-"
	}
	return number(v)
}

func median(samples []float64) float64 {
	if len(samples) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(samples))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// thousands writes a size as the budgets do.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}
