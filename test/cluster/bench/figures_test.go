package bench

import (
	"slices"
	"testing"

	"sluice/test/bench/measure"
)

// statusBudget is what the statuses of so many Ingresses may take, in seconds.
var statusBudget = map[int]float64{5_000: 30}

// statusPeers is what others need for the statuses of n Ingresses: they write so
// many a second.
func statusPeers(n int) measure.Peers {
	return measure.Peers{IngressNginx: float64(n) / 5, Other: float64(n) / 5.5, OtherName: "Traefik, before it serves"}
}

func (c crowd) figures(n int) []measure.Figure {
	may := measure.BudgetOf[n]
	return withPeers(n, []measure.Figure{
		seconds("all created while it runs, by the API server", c.created),
		seconds("the last of them created to served", c.caughtUp),
		{What: measure.Processor, Unit: "s", Samples: []float64{c.cpu.Sum()}, Budget: may.CPU},
		seconds("CPU of the controller", c.cpu.Controller),
		seconds("CPU of nginx", c.cpu.Nginx),
		count("reloads of that life", c.reloads),
		megabytes("peak memory of the controller of that life", c.memory.Controller),
		megabytes("peak memory of nginx of that life", c.memory.Nginx),
	})
}

func (f found) figures(n int) []measure.Figure {
	may := measure.BudgetOf[n]
	byEndpoints := count("reloads by changes of endpoints", f.byEndpoints)
	byEndpoints.None = true
	list := []measure.Figure{
		seconds("start to ready", f.ready),
		{What: measure.Start, Unit: "s", Samples: []float64{f.start}, Budget: may.Start},
		seconds("CPU of the controller for the start", f.starting.Controller),
		seconds("CPU of nginx for the start", f.starting.Nginx),
	}
	list = append(list, f.add.figures(measure.Add, "POST", may.Add)...)
	list = append(list, f.endpoints.figures(measure.Endpoints, "PUT", may.Endpoints)...)
	return withPeers(n, append(list,
		byEndpoints,
		count("reloads of the life that began with all", f.reloads),
		measure.Figure{What: measure.PeakOfAll, Unit: "MB", Samples: []float64{f.memory.All}, Budget: may.Memory},
		measure.Figure{What: measure.PeakOfController, Unit: "MB", Samples: []float64{f.memory.Controller}, Budget: may.Controller},
		megabytes("peak memory of nginx", f.memory.Nginx),
		measure.Figure{What: measure.ConfSize, Unit: "MB", Samples: []float64{f.conf}, Budget: may.Conf},
	))
}

// figures are the median and the 99th percentile, from the API server's answer
// and from before the request.
func (d delays) figures(what, request string, budget float64) []measure.Figure {
	return []measure.Figure{
		{What: what, Unit: "s", Samples: d.answered, Budget: budget},
		seconds(what+", p99", measure.P99(d.answered)),
		{What: what + ", with the " + request, Unit: "s", Samples: d.sent},
		seconds(what+", with the "+request+", p99", measure.P99(d.sent)),
	}
}

func (w written) figures(n int) []measure.Figure {
	list := []measure.Figure{{What: "status of all published, from the start", Unit: "s", Samples: []float64{w.all}, Budget: statusBudget[n], Peers: statusPeers(n)}}
	if len(w.add.answered) == 0 {
		return list // all were written before one more could be served
	}
	return append(list, measure.Figure{
		What: "one more Ingress while statuses are written", Unit: "s", Samples: w.add.answered, Budget: measure.BudgetOf[n].Add,
		Baseline: measure.Median(w.quiet.answered), Beside: "while none is",
	})
}

func seconds(what string, value float64) measure.Figure {
	return measure.Figure{What: what, Unit: "s", Samples: []float64{value}}
}

func megabytes(what string, value float64) measure.Figure {
	return measure.Figure{What: what, Unit: "MB", Samples: []float64{value}}
}

func count(what string, value int) measure.Figure {
	return measure.Figure{What: what, Unit: "reloads", Samples: []float64{float64(value)}}
}

func withPeers(n int, list []measure.Figure) []measure.Figure {
	for i, f := range list {
		list[i].Peers = measure.ScalePeers[f.What][n]
	}
	return list
}

// What others were measured at is printed beside a figure of that name, but for
// what `nginx -t` takes, which is the same wherever the objects come from.
func TestPeersHaveTheirFigures(t *testing.T) {
	t.Parallel()
	var names []string
	for _, f := range slices.Concat(crowd{}.figures(100), found{}.figures(100), written{}.figures(100)) {
		if slices.Contains(names, f.What) {
			t.Errorf("two figures are named %q", f.What)
		}
		names = append(names, f.What)
	}
	for what := range measure.ScalePeers {
		if what != measure.Parse && !slices.Contains(names, what) {
			t.Errorf("no figure is named %q", what)
		}
	}
}
