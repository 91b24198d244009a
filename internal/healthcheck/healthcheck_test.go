package healthcheck

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/model"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// usual is checked each ten seconds, leaves after three failures and is back after two
// successes.
func usual() *model.Check {
	return &model.Check{Path: "/healthz", From: 200, To: 399, Interval: 10, Timeout: 2, Healthy: 2, Unhealthy: 3}
}

func endpoint(n int) model.Endpoint {
	return model.Endpoint{Address: fmt.Sprintf("10.0.%d.%d", n/256, n%256), Port: 8080}
}

func backend(namespace string, check *model.Check, count int) *model.Backend {
	b := &model.Backend{Key: namespace + "/web/80~check", Target: model.Target{ServicePort: model.ServicePort{Namespace: namespace, Name: "web", Port: "80"}},
		Balancing: &model.Balancing{Check: check}}
	for n := range count {
		b.Endpoints = append(b.Endpoints, endpoint(n))
	}
	return b
}

func all(backends ...*model.Backend) model.Dynamic { return model.Dynamic{Backends: backends} }

// clock drives a table: it runs what is due and answers by its func.
type clock struct {
	*Table
	now     time.Time
	answer  func(Target) string
	changes int
	asked   map[Target][]time.Duration
}

func newClock(answer func(Target) string) *clock {
	return &clock{Table: New(func() float64 { return 0.5 }), now: start, answer: answer, asked: map[Target][]time.Duration{}}
}

// pass lets time go by.
func (c *clock) pass(d time.Duration) {
	until := c.now.Add(d)
	for {
		check, wait := c.Next(c.now)
		if check == nil {
			if c.now.Add(wait).After(until) {
				c.now = until
				return
			}
			c.now = c.now.Add(wait)
			continue
		}
		c.asked[check.Target()] = append(c.asked[check.Target()], c.now.Sub(start))
		if c.Learn(check, c.answer(check.Target()), c.now) {
			c.changes++
		}
	}
}

func addresses(b *model.Backend) (healthy, failing []string) {
	for _, e := range b.Endpoints {
		healthy = append(healthy, e.Address)
	}
	for _, e := range b.Failing {
		failing = append(failing, e.Address+": "+e.Reason)
	}
	return healthy, failing
}

func TestThresholds(t *testing.T) {
	t.Parallel()
	broken := true
	c := newClock(func(to Target) string {
		if broken && to.Endpoint.Address == "10.0.0.1" {
			return "status 500"
		}
		return ""
	})
	d := all(backend("shop", usual(), 3))
	c.Use(d, c.now)
	states := func() [2][]string {
		healthy, failing := addresses(c.Apply(d).Backends[0])
		return [2][]string{healthy, failing}
	}
	whole := [2][]string{{"10.0.0.0", "10.0.0.1", "10.0.0.2"}, nil}
	without := [2][]string{{"10.0.0.0", "10.0.0.2"}, {"10.0.0.1: status 500"}}
	for _, step := range []struct {
		broken bool
		want   [2][]string
	}{
		{true, whole}, {true, whole}, {true, without}, {true, without},
		{false, without}, {true, without}, // one success does not bring it back, and a failure begins anew
		{false, without}, {false, whole},
		{true, whole}, {true, whole}, {false, whole}, {true, whole}, {true, whole}, {true, without},
	} {
		broken = step.broken
		c.pass(10500 * time.Millisecond)
		if diff := cmp.Diff(step.want, states()); diff != "" {
			t.Fatalf("at %v: %s", c.now.Sub(start), diff)
		}
	}
	if n := c.Failing(); n != 1 {
		t.Errorf("%d endpoints fail, want 1", n)
	}
	if c.Use(model.Dynamic{}, c.now); c.Failing() != 0 {
		t.Error("an endpoint that left fails")
	}
	if len(d.Backends[0].Endpoints) != 3 || d.Backends[0].Failing != nil {
		t.Error("the argument of Apply changed")
	}
	if c.changes != 3 {
		t.Errorf("%d changes, want 3", c.changes)
	}
}

func TestAllFailing(t *testing.T) {
	t.Parallel()
	reason := "status 404"
	c := newClock(func(Target) string { return reason })
	d := all(backend("shop", usual(), 2))
	c.Use(d, c.now)
	c.pass(time.Minute)
	healthy, failing := addresses(c.Apply(d).Backends[0])
	if diff := cmp.Diff([][]string{{"10.0.0.0", "10.0.0.1"}, {"10.0.0.0: status 404", "10.0.0.1: status 404"}}, [][]string{healthy, failing}); diff != "" {
		t.Error(diff)
	}
	c.changes, reason = 0, "no answer"
	c.pass(time.Minute)
	if _, failing := addresses(c.Apply(d).Backends[0]); failing[0] != "10.0.0.0: no answer" || c.changes != 2 {
		t.Errorf("%v, %d changes: want the last reason", failing, c.changes)
	}
}

// TestSharedTargets: backends with the same check of an endpoint share it; another check is
// another one. A target in use keeps its state, one that returns begins anew.
func TestSharedTargets(t *testing.T) {
	t.Parallel()
	c := newClock(func(Target) string { return "status 500" })
	other := usual()
	other.Path = "/other"
	d := all(backend("a", usual(), 2), backend("b", usual(), 3), backend("c", other, 1))
	c.Use(d, c.now)
	c.pass(10500 * time.Millisecond)
	if len(c.asked) != 4 {
		t.Errorf("%d targets, want 4", len(c.asked))
	}
	for target, times := range c.asked {
		if len(times) != 1 {
			t.Errorf("%s%s was checked %d times, want once", target.Endpoint.Address, target.Check.Path, len(times))
		}
	}
	c.Use(all(backend("b", usual(), 1)), c.now)
	c.Use(d, c.now)
	c.pass(21 * time.Second)
	applied := c.Apply(d).Backends[1]
	if _, failing := addresses(applied); len(failing) != 1 || failing[0] != "10.0.0.0: status 500" {
		t.Errorf("%v, want only the endpoint that stayed", failing)
	}
}

func TestWithoutChecks(t *testing.T) {
	t.Parallel()
	c := newClock(nil)
	plain := backend("a", nil, 2)
	d := all(plain, &model.Backend{Key: "b", Endpoints: plain.Endpoints})
	c.Use(d, c.now)
	c.pass(time.Hour)
	if got := c.Apply(d); &got.Backends[0] != &d.Backends[0] {
		t.Error("another list")
	}
}

// TestLimits: no namespace has more than its share of the running checks, and one with many
// targets that hang does not delay another.
func TestLimits(t *testing.T) {
	t.Parallel()
	var backends []*model.Backend
	for n := range 40 {
		backends = append(backends, backend(fmt.Sprintf("n%02d", n), &model.Check{Path: fmt.Sprint("/", n), Interval: 1, Healthy: 1, Unhealthy: 1}, 1000))
	}
	table := New(func() float64 { return 0 })
	table.Use(all(backends...), start)
	running := map[string][]*Check{}
	count := 0
	now := start
	for {
		check, wait := table.Next(now)
		if check == nil && wait == longestWait {
			break
		}
		if now = now.Add(wait); check != nil {
			running[check.of.name] = append(running[check.of.name], check)
			count++
		}
	}
	if least := time.Duration(count-MostInSecond/10-1) * time.Second / MostInSecond; now.Sub(start) < least {
		t.Errorf("%d checks started in %v, want at least %v", count, now.Sub(start), least)
	}
	if count != MostRunning || len(running) != 40 {
		t.Fatalf("%d checks run of %d namespaces, want %d of 40", count, len(running), MostRunning)
	}
	for name, checks := range running {
		if len(checks) > MostRunning/40+1 {
			t.Errorf("%s has %d checks", name, len(checks))
		}
	}
	// A new namespace has the next turn.
	table.Use(all(append(backends, backend("new", usual(), 1))...), now)
	table.Learn(running["n00"][0], "", now)
	running["n00"] = running["n00"][1:]
	if check, _ := table.Next(now.Add(time.Second)); check == nil || check.of.name != "new" {
		t.Errorf("%v is next, want the new namespace", check)
	}
	// Targets that leave while they are checked still count until the end.
	table.Use(model.Dynamic{}, now)
	if check, _ := table.Next(now.Add(time.Hour)); check != nil || table.turns.running != MostRunning {
		t.Errorf("%d run", table.turns.running)
	}
	for _, checks := range running {
		for _, check := range checks {
			table.Learn(check, "", now)
		}
	}
	if table.turns.running != 1 || len(table.turns.spaces) != 1 {
		t.Errorf("%d run in %d namespaces, want the one of the new namespace", table.turns.running, len(table.turns.spaces))
	}
}

func TestOneNamespace(t *testing.T) {
	t.Parallel()
	table := New(func() float64 { return 0 })
	table.Use(all(backend("a", usual(), 1000)), start)
	now, count := start, 0
	for check, wait := table.Next(now); check != nil || wait != longestWait; check, wait = table.Next(now) {
		if now = now.Add(wait); check != nil {
			count++
		}
	}
	if count != MostRunningOfNamespace {
		t.Errorf("%d checks run, want %d", count, MostRunningOfNamespace)
	}
}

// TestTurns: a namespace with more targets than fit into its intervals does not take the
// turns of another.
func TestTurns(t *testing.T) {
	t.Parallel()
	c := newClock(func(Target) string { return "" })
	greedy, other := usual(), usual()
	greedy.Interval = 1
	c.Use(all(backend("greedy", greedy, 5000), backend("other", other, 10)), c.now)
	c.pass(time.Minute)
	total := 0
	for target, times := range c.asked {
		total += len(times)
		if target.Check.Interval == 10 && len(times) < 5 {
			t.Errorf("%s was checked at %v", target.Endpoint.Address, times)
		}
	}
	if most := 61 * MostInSecond; total > most {
		t.Errorf("%d checks in a minute, want at most %d", total, most)
	}
}

// TestTurnsOfSharedTargets: the targets of a namespace are also those of another, which has
// more than fit into its intervals. They are checked as often as without that one.
func TestTurnsOfSharedTargets(t *testing.T) {
	t.Parallel()
	c := newClock(func(Target) string { return "" })
	greedy, other := backend("greedy", usual(), 5000), backend("other", usual(), 10)
	c.Use(all(greedy, other), c.now)
	c.pass(time.Minute)
	for _, endpoint := range other.Endpoints {
		if times := c.asked[Target{*usual(), endpoint}]; len(times) < 5 {
			t.Errorf("%s was checked at %v", endpoint.Address, times)
		}
	}
	// The targets stay when the first namespace leaves, with the states.
	c.answer = func(Target) string { return "status 500" }
	c.pass(time.Minute)
	c.Use(all(other), c.now)
	if _, failing := addresses(c.Apply(all(other)).Backends[0]); len(failing) != 10 || c.Failing() != 10 || len(c.entries) != 10 || len(c.turns.spaces) != 1 {
		t.Errorf("%d of %d fail in %d namespaces, want all 10", len(failing), len(c.entries), len(c.turns.spaces))
	}
	c.asked = map[Target][]time.Duration{}
	if c.pass(11 * time.Second); len(c.asked) != 10 {
		t.Errorf("%d are checked, want 10", len(c.asked))
	}
}

// BenchmarkTable measures with 100,000 endpoints in 2,000 namespaces: Use of the same
// backends and Apply, as for each push, and the next turn.
// TestOrderOfTurns: namespaces with targets in common are in order after each call, so that
// their turns come when they have to.
func TestOrderOfTurns(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 0))
		table, now := New(random.Float64), start
		table.Use(shared(random), now)
		var running []*Check
		for range 1000 {
			now = now.Add(time.Duration(random.IntN(8)) * time.Millisecond)
			if check, _ := table.Next(now); check != nil {
				running = append(running, check)
			}
			inOrder(t, table)
			if len(running) > 0 && random.IntN(3) == 0 {
				n := random.IntN(len(running))
				table.Learn(running[n], "", now)
				running = slices.Delete(running, n, n+1)
				inOrder(t, table)
			}
		}
	}
}

// shared returns backends of 20 namespaces with targets in common.
func shared(random *rand.Rand) (d model.Dynamic) {
	check := usual()
	check.Interval = 1
	for n := range 20 {
		b := backend(fmt.Sprintf("n%02d", n), check, 0)
		for range 9 {
			b.Endpoints = append(b.Endpoints, endpoint(random.IntN(100)))
		}
		d.Backends = append(d.Backends, b)
	}
	return d
}

// inOrder fails if a namespace has an earlier turn than its parent in the heap.
func inOrder(t *testing.T, table *Table) {
	t.Helper()
	for name, heap := range map[string]*ordered[*namespace]{"ready": &table.turns.ready, "waiting": &table.turns.waiting} {
		for n := 1; n < heap.Len(); n++ {
			if parent := (n - 1) / 2; heap.Less(n, parent) {
				t.Fatalf("%s: %s comes before its parent %s", name, heap.items[n].name, heap.items[parent].name)
			}
		}
	}
}

func BenchmarkTable(b *testing.B) {
	var backends []*model.Backend
	for n := range 2000 {
		check := usual()
		check.Path = fmt.Sprint("/", n)
		backends = append(backends, backend(fmt.Sprintf("n%04d", n), check, 50))
	}
	d := all(backends...)
	table := New(func() float64 { return 0 })
	table.Use(d, start)
	now := start
	b.Run("turn", func(b *testing.B) {
		for b.Loop() {
			check, wait := table.Next(now)
			now = now.Add(wait)
			if check != nil {
				failure := ""
				if check.Target().Endpoint == endpoint(0) {
					failure = "status 500"
				}
				table.Learn(check, failure, now)
			}
		}
	})
	b.Run("push", func(b *testing.B) {
		for b.Loop() {
			table.Use(d, now)
			table.Apply(d)
			table.Troubles(d)
		}
	})
}
