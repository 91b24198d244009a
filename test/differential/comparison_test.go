package differential

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"sluice/internal/model"
	"sluice/test/kit"
)

// comparison asks a matcher and an nginx the same.
type comparison struct {
	match matcher
	site  *kit.Site
	seen  *tally
	// starts bounds how often nginx is started to make a disagreement smaller.
	starts int
}

// told is a world with its model and what a matcher says of its requests.
type told struct {
	*world
	config   *model.Config
	foretold []foretold
}

func (w *world) told(t testing.TB, match matcher) told {
	t.Helper()
	all := told{world: w, config: w.translated(t, w.objects(t))}
	for _, q := range w.requests {
		all.foretold = append(all.foretold, foretell(match, all.config, q.request))
	}
	return all
}

// of asks all requests of a world, and reports where nginx does not do what the
// matcher says.
func (c *comparison) of(t *testing.T, w told) {
	t.Helper()
	var wrong []asked
	for i, got := range w.answers(t, c.site, w.config) {
		c.seen.add(w.foretold[i])
		if disagree(w.foretold[i], got) {
			wrong = append(wrong, w.requests[i])
		}
	}
	if len(wrong) > 0 {
		t.Errorf("%s nginx disagrees on %d of %d requests, on the first of them with as little as it takes:\n%s",
			c.site.Name, len(wrong), len(w.requests), c.report(t, c.shrunk(t, w.only(wrong[0]))))
	}
}

// only is the world of one request and its set.
func (w *world) only(q asked) *world {
	small := &world{setup: w.setup, catchAll: w.catchAll, requests: []asked{q}}
	if q.set != w.catchAll {
		small.sets = []*set{q.set}
	}
	return small
}

// shrunk leaves out one thing after the other as long as the disagreement on the
// only request stays.
func (c *comparison) shrunk(t *testing.T, w *world) *world {
	t.Helper()
	starts := 0
	for i := 0; i < len(w.smaller()) && starts < c.starts; starts++ {
		smaller := w.smaller()[i]
		if f, got := c.first(t, smaller); disagree(f, got) {
			w = smaller
			continue // what was behind has its place now
		}
		i++
	}
	return w
}

// first is what is foretold of the first request, and what nginx does.
func (c *comparison) first(t *testing.T, w *world) (foretold, reply) {
	t.Helper()
	all := w.told(t, c.match)
	return all.foretold[0], w.answers(t, c.site, all.config)[0]
}

// report is the disagreement on the only request, as a case for test/golden.
func (c *comparison) report(t *testing.T, w *world) string {
	t.Helper()
	f, got := c.first(t, w)
	q := w.requests[0]
	var out strings.Builder
	fmt.Fprintf(&out, "The request %s: nginx answers %s, and route.Match says %s.\n", q, got, f)
	fmt.Fprintf(&out, "-- manifests.yaml --\n%s", w.manifests(t))
	if w.defaultBackend {
		fmt.Fprintf(&out, "-- options --\ndefault-backend=%s/%s\n", namespace, fallbackService)
	}
	fmt.Fprintf(&out, "-- requests --\nGET %s%s -> ?\n", q.host, q.target)
	return out.String()
}

// tally counts what requests met.
type tally struct {
	sync.Mutex
	answers int
	counts  map[string]int
}

func newTally() *tally { return &tally{counts: map[string]int{}} }

func (c *tally) add(f foretold) {
	c.Lock()
	defer c.Unlock()
	c.answers++
	c.counts[f.what]++
	switch {
	case f.rewritten:
		c.counts["rewritten"]++
	case f.service != "":
		c.counts["a service"]++
	case f.status != 0 && fmt.Sprint(f.status) != f.what:
		c.counts[fmt.Sprint(f.status)]++
	}
}
