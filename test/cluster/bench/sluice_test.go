package bench

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/test/bench/measure"
	"sluice/test/cluster"
	"sluice/test/kit"
)

// sluice is a running sluice with its nginx.
type sluice struct {
	*cluster.Sluice
	w     *work
	began time.Time
	ready chan time.Time
}

// launch starts a sluice, and does not wait. A lease of its own makes it the
// leader at once.
func (w *work) launch(more ...string) *sluice {
	w.b.Helper()
	s := &sluice{w: w, ready: make(chan time.Time, 1)}
	s.Sluice = cluster.PrepareSluice(w.b, w.kubeconfig, more...)
	s.Arguments = append(s.Arguments, "--election-id", fmt.Sprintf("bench-%d", s.HTTP))
	s.began = time.Now()
	s.Launch(w.b)
	go s.watchReady(s.began.Add(measure.Patience))
	return s
}

// watchReady notes when /readyz says yes for the first time.
func (s *sluice) watchReady(until time.Time) {
	for time.Now().Before(until) && !s.Ended() {
		if s.Ready() == http.StatusOK {
			s.ready <- time.Now()
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
	close(s.ready)
}

// awaitReady gives the seconds from the start to readiness.
func (s *sluice) awaitReady() float64 {
	s.w.b.Helper()
	since, ok := <-s.ready
	if !ok {
		s.w.b.Fatalf("sluice is not ready within %v", measure.Patience)
	}
	return since.Sub(s.began).Seconds()
}

// end ends sluice. With -v it is shown what it said of each sync.
func (s *sluice) end() {
	s.w.b.Helper()
	s.Terminate()
	if testing.Verbose() {
		s.w.b.Logf("syncs:\n%s", kit.Tail(s.Log.Lines(s.w.b, "msg=sync"), 200))
	}
}

// reloads counts how often nginx was reloaded so far. The line that says so may
// come a little after every worker serves what was asked for.
func (s *sluice) reloads() int { return len(s.Log.Lines(s.w.b, "reload=true")) }

// reloadsAtRest counts them when nothing is left to do.
func (s *sluice) reloadsAtRest() int {
	measure.AtRest(s.PID())
	return s.reloads()
}

// confSize gives the size of the file that nginx runs, in MB.
func (s *sluice) confSize() float64 {
	s.w.b.Helper()
	info, err := os.Stat(filepath.Join(s.State, "nginx.conf"))
	if err != nil {
		s.w.b.Fatal(err)
	}
	return float64(info.Size()) / 1e6
}

// await waits until every worker answers as wanted for Ingress i.
func (s *sluice) await(i int, want func(measure.Answer) bool) time.Time {
	s.w.b.Helper()
	return measure.AwaitAll(s.w.b, s.HTTP, measure.Host(i), want)
}

// delays are the seconds from a request to the API server to its effect in every
// worker, a sample for each request.
type delays struct {
	// sent counts from before the request was sent, answered from when the API
	// server had answered it.
	sent, answered []float64
}

func (d *delays) note(sent, answered, effective time.Time) {
	d.sent = append(d.sent, effective.Sub(sent).Seconds())
	d.answered = append(d.answered, effective.Sub(answered).Seconds())
}

// add creates one more Ingress, whose Service and EndpointSlice were prepared,
// and waits until it is served.
func (s *sluice) add(d *delays) {
	s.w.b.Helper()
	i := s.w.n + s.w.added
	s.w.added++
	u, err := newUnit(i, before)
	if err != nil {
		s.w.b.Fatal(err)
	}
	sent := time.Now()
	if err := s.w.createIngress(s.w.b.Context(), u); err != nil {
		s.w.b.Fatal(err)
	}
	answered := time.Now()
	d.note(sent, answered, s.await(i, measure.Served))
}

// change replaces the endpoints of the first Service, in turns by the others and
// by the first, and waits until they are effective.
func (s *sluice) change(round int, d *delays) {
	s.w.b.Helper()
	want, endpoints := afterName, after
	if round%2 == 1 {
		want, endpoints = beforeName, before
	}
	u, err := newUnit(0, endpoints)
	if err != nil {
		s.w.b.Fatal(err)
	}
	sent := time.Now()
	if _, err := s.w.clients.DiscoveryV1().EndpointSlices(u.slice.Namespace).Update(s.w.b.Context(), u.slice, metav1.UpdateOptions{}); err != nil {
		s.w.b.Fatal(err)
	}
	answered := time.Now()
	d.note(sent, answered, s.await(0, measure.From(want)))
}
