package measure

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
)

// Figure is one result: the median of its samples, beside what it may be and
// what the same costs by hand.
type Figure struct {
	What string // "start"
	Work string // "1,000"
	Unit string
	// Samples are what was measured; several are judged by their median.
	Samples []float64
	// Budget is the most it may be, or the least where AtLeast is set; 0 is none.
	Budget  float64
	AtLeast bool
	// None is set where a budget of 0 means that there may be none.
	None bool
	// Baseline is what Beside means, measured in the same run; 0 is none.
	Baseline float64
	Beside   string
	// Peers are what others need for the same.
	Peers Peers
}

func (f Figure) value() float64 { return Median(f.Samples) }

func (f Figure) verdict() string {
	switch {
	case f.Budget == 0 && !f.None:
		return ""
	case f.AtLeast && f.value() < f.Budget, !f.AtLeast && f.value() > f.Budget:
		return "MISSED"
	}
	return "met"
}

// metric is the name for go test, which allows no spaces in it.
func (f Figure) metric(more string) string {
	return strings.NewReplacer(" ", "-", ",", "", ":", "").Replace(f.What) + more + "-" + f.Unit
}

// Table collects the figures of all benchmarks.
type Table struct {
	mu   sync.Mutex
	rows []Figure
}

// Results are those of this process.
var Results Table

// Report gives a figure to go test and to the table.
func (f Figure) Report(b *testing.B) {
	b.Helper()
	b.ReportMetric(f.value(), f.metric(""))
	if f.Budget != 0 {
		b.ReportMetric(f.Budget, f.metric("-budget"))
	}
	if f.Baseline != 0 {
		b.ReportMetric(f.Baseline, f.metric("-baseline"))
	}
	Results.mu.Lock()
	defer Results.mu.Unlock()
	Results.rows = append(Results.rows, f)
}

// Print writes the table, one figure a line.
func (t *Table) Print(out io.Writer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "\nwhat\twork\tfigure\tof\tbudget\t\tingress-nginx\tbest other\tbaseline\tbaseline is")
	for _, f := range t.rows {
		fmt.Fprintf(w, "%s\t%s\t%s %s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", f.What, f.Work, number(f.value()), f.Unit, f.spread(), f.bound(), f.verdict(),
			optional(f.Peers.IngressNginx), f.Peers.best(), optional(f.Baseline), f.Beside)
	}
	w.Flush()
}

// bound is the budget with its direction.
func (f Figure) bound() string {
	switch {
	case f.None:
		return "0"
	case f.Budget == 0:
		return "-"
	case f.AtLeast:
		return ">= " + number(f.Budget)
	}
	return "<= " + number(f.Budget)
}

// spread tells how many samples there were and how far apart.
func (f Figure) spread() string {
	if len(f.Samples) < 2 {
		return "1"
	}
	return fmt.Sprintf("%d: %s to %s", len(f.Samples), number(slices.Min(f.Samples)), number(slices.Max(f.Samples)))
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

// Median is the middle of some samples, or between the two in the middle; 0 of
// none.
func Median(samples []float64) float64 {
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

// P99 is the sample that 99 of 100 do not exceed; of fewer than 100 samples that
// is the greatest.
func P99(samples []float64) float64 {
	if len(samples) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(samples))
	return sorted[(99*len(sorted)+99)/100-1]
}

// Thousands writes a size as the budgets do.
func Thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}
