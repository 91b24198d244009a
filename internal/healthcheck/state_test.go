package healthcheck

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/model"
)

// TestMovedEndpointKeepsItsState: it leaves a backend and comes to another one at once.
func TestMovedEndpointKeepsItsState(t *testing.T) {
	t.Parallel()
	c := newClock(func(Target) string { return "status 500" })
	one, two := backend("a", usual(), 1), backend("b", usual(), 0)
	c.Use(all(one, two), c.now)
	c.pass(time.Minute)
	one, two = backend("a", usual(), 0), backend("b", usual(), 1)
	d := all(one, two)
	c.Use(d, c.now)
	if _, failing := addresses(c.Apply(d).Backends[1]); len(failing) != 1 || len(c.entries) != 1 {
		t.Errorf("%v fail of %d", failing, len(c.entries))
	}
}

// TestFlapping: an endpoint that fails again soon after it came back stays out longer each
// time. Once it was healthy for long enough, it comes back as fast as at first.
func TestFlapping(t *testing.T) {
	t.Parallel()
	failing := true
	c := newClock(func(Target) string {
		if failing {
			return "status 500"
		}
		return ""
	})
	check := usual()
	check.Healthy, check.Unhealthy, check.Interval = 1, 1, 1
	d := all(backend("shop", check, 1))
	c.Use(d, c.now)
	// out is the number of right answers until it is back, which it then fails again.
	out := func() int {
		failing = true
		for c.Failing() == 0 {
			c.pass(time.Second)
		}
		failing = false
		before := len(c.asked[Target{*check, endpoint(0)}])
		for c.Failing() == 1 {
			c.pass(time.Second)
		}
		return len(c.asked[Target{*check, endpoint(0)}]) - before
	}
	var got []int
	for range 12 {
		got = append(got, out())
	}
	if diff := cmp.Diff([]int{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600}, got); diff != "" {
		t.Error(diff)
	}
	c.pass(calm)
	if n := out(); n != 1 {
		t.Errorf("after a long time it needed %d right answers, want 1", n)
	}
}

// TestReasonsAreToldSeldom: an endpoint whose failures differ each time changes nothing but
// its reason, which is news only once in a minute.
func TestReasonsAreToldSeldom(t *testing.T) {
	t.Parallel()
	n := 0
	c := newClock(func(Target) string { n++; return fmt.Sprint("status ", 500+n%100) })
	c.Use(all(backend("shop", usual(), 1)), c.now)
	c.pass(time.Hour)
	if c.changes < 2 || c.changes > 61 {
		t.Errorf("%d changes in an hour, want at most one in a minute", c.changes)
	}
}

// TestTroubles are checks that all endpoints of a backend fail.
func TestTroubles(t *testing.T) {
	t.Parallel()
	c := newClock(func(to Target) string {
		if to.Endpoint == endpoint(2) {
			return ""
		}
		return "status 500"
	})
	b, whole, plain := backend("b", usual(), 2), backend("a", usual(), 3), backend("c", nil, 1)
	none := backend("d", usual(), 0)
	twice := *b
	twice.Key += "2"
	d := all(whole, b, &twice, plain, none)
	c.Use(d, c.now)
	if got := c.Troubles(d); got != nil {
		t.Errorf("%v before any check", got)
	}
	c.pass(time.Minute)
	want := []Trouble{{Of: model.ObjectRef{Kind: "Service", Namespace: "b", Name: "web"}, Path: "/healthz"}}
	if diff := cmp.Diff(want, c.Troubles(d)); diff != "" {
		t.Error(diff)
	}
	// A new endpoint counts as healthy, also before it is in use.
	if got := c.Troubles(all(backend("b", usual(), 3), backend("b", usual(), 300))); got != nil {
		t.Errorf("%v with a new endpoint", got)
	}
}
