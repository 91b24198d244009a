package bench

import (
	"testing"

	"sluice/test/bench/measure"
)

// metricsRatio is the share of the throughput that is left with metrics.
const metricsRatio = 0.97

// BenchmarkMetrics loads a Sluice that counts requests and one that does not in turns.
func BenchmarkMetrics(b *testing.B) {
	for range b.N {
		ports := answering(b)
		with, without := loadedSluice(b, "true", ports, "--enable-metrics"), loadedSluice(b, "true", ports)
		pinTo(0, with.PID(), without.PID())
		all := []*traffic{{pid: with.PID(), to: plainTarget(with.HTTP)}, {pid: without.PID(), to: plainTarget(without.HTTP)}}
		for round := range 2 * turns {
			for i := range all {
				all[(round+i)%len(all)].load(b, turn)
			}
		}
		rates, costs := all[0].beside(all[1])
		for _, f := range []measure.Figure{
			{What: "throughput with metrics", Unit: "x", Samples: rates, Budget: metricsRatio, AtLeast: true, Beside: "the same without"},
			{What: "CPU per request with metrics", Unit: "x", Samples: costs, Beside: "the same without"},
			{What: "CPU per request with metrics", Unit: "us", Samples: all[0].cost, Baseline: measure.Median(all[1].cost), Beside: "the same without"},
		} {
			f.Work = "log off"
			f.Report(b)
		}
	}
}
