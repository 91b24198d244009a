package bench

import (
	"time"

	"sluice/test/bench/measure"
)

// How often Ingresses are added and endpoints are changed: in the life that the
// budget of processor time is for; where delays are measured; and while memory is.
const (
	roundsOfLife   = 10
	roundsOfDelays = 20
	roundsOfMemory = 5
)

// seldom is how often memory is looked at where looking must cost little.
const seldom = 250 * time.Millisecond

// crowd is what was measured of a sluice that ran from before the first Ingress
// was created until after the last one was deleted.
type crowd struct {
	// created is how long it took to create all, which is the API server's time,
	// and caughtUp how much later the last one was served.
	created, caughtUp float64
	cpu               measure.CPU
	memory            measure.Memory
	reloads           int
}

// whileRunning creates all, adds some, changes endpoints and deletes all.
func (w *work) whileRunning() crowd {
	w.b.Helper()
	var c crowd
	s := w.launch("--update-status=false")
	s.awaitReady()
	watch := measure.SampleEvery(s.PID(), seldom)
	began := time.Now()
	w.create(0, w.n)
	created := time.Now()
	c.created, c.caughtUp = created.Sub(began).Seconds(), s.await(w.n-1, measure.Served).Sub(created).Seconds()
	measure.CheckAll(w.b, s.HTTP, w.n)
	w.prepare(roundsOfLife)
	var d delays
	for range roundsOfLife {
		s.add(&d)
	}
	for round := range roundsOfLife {
		s.change(round, &d)
	}
	last := w.n + w.added - 1
	w.clear()
	for _, i := range []int{0, w.n / 2, last} {
		s.await(i, measure.Absent)
	}
	c.cpu, c.reloads = measure.AtRest(s.PID()), s.reloads()
	c.memory = watch.End()
	c.memory.Controller = measure.Peak(s.PID())
	s.end()
	return c
}

// found is what was measured of a sluice that found all Ingresses there.
type found struct {
	ready, start, conf float64
	starting           measure.CPU
	add, endpoints     delays
	// byEndpoints are the reloads while endpoints changed; reloads are all.
	byEndpoints, reloads int
	memory               measure.Memory
}

// thereBefore starts a sluice beside the units that are there. It adds more and
// changes endpoints, and looks at memory over reloads apart from what is timed,
// because looking costs time too.
func (w *work) thereBefore() found {
	w.b.Helper()
	var f found
	s := w.launch("--update-status=false")
	f.start = s.await(w.n-1, measure.Served).Sub(s.began).Seconds()
	f.ready = s.awaitReady()
	f.starting = measure.AtRest(s.PID())
	measure.CheckAll(w.b, s.HTTP, w.n)
	f.conf = s.confSize()
	w.prepare(roundsOfDelays + roundsOfMemory)
	measure.AtRest(s.PID())
	for range roundsOfDelays {
		s.add(&f.add)
	}
	reloads := s.reloadsAtRest()
	for round := range roundsOfDelays {
		s.change(round, &f.endpoints)
	}
	f.byEndpoints = s.reloadsAtRest() - reloads
	if f.byEndpoints != 0 {
		w.b.Errorf("%d changes of endpoints led to %d reloads", roundsOfDelays, f.byEndpoints)
	}
	watch := measure.Sample(s.PID())
	var untimed delays
	for range roundsOfMemory {
		s.add(&untimed)
	}
	f.memory = watch.End()
	f.memory.Controller = measure.Peak(s.PID())
	f.reloads = s.reloadsAtRest()
	s.end()
	return f
}
