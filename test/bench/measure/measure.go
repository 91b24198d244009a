// Package measure is what the benchmarks measure with, wherever the objects that
// are served come from: the work of a size, probes that tell what every worker of
// nginx serves, the processor time and the memory of a sluice and its nginx, and
// the table of figures beside their budgets and what others need.
//
//	began := time.Now()
//	... // start a sluice on measure.Unit(0) to measure.Unit(n-1)
//	served := measure.AwaitAll(b, port, measure.Host(n-1), measure.Served)
//	measure.Figure{
//		What: measure.Start, Work: measure.Thousands(n), Unit: "s", Samples: []float64{served.Sub(began).Seconds()},
//		Budget: measure.BudgetOf[n].Start, Peers: measure.ScalePeers[measure.Start][n],
//	}.Report(b)
//	measure.Results.Print(os.Stdout)
//
// Nothing timed fails a benchmark: a budget that is missed is printed as such.
package measure
