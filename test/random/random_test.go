// Package random asks Sluice for recorded answers of ingress-nginx 1.15.1 to random
// worlds: hosts with one to four Ingresses each, with values as people write them, and
// the smallest worlds that showed something. testdata has them, in the form of
// test/compat. Objects that differ from world to world find what no scenario was
// written for.
//
// Each place where an answer differs has a cause: a row of docs/differences.md, whose
// condition in causes_*_test.go holds for the request, or the request waits for something
// (waits_test.go). Anything else fails. explain has to say of each request what nginx answers.
// To ask one world:
//
//	go test ./test/random -run "TestAnswers/.*/.*/^rnd-11-34$" -count=1 -each
//
// Only the Sluices of that world's group are started then. SLUICE_NGINX_ROOT adds the
// second nginx, "shipped" instead of "system". Of two nginx, a world is asked of one, which its
// name decides, unless -each is given: what differs between the two is the work of test/golden,
// and each has half of the worlds here.
package random

import (
	"cmp"
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"sluice/test/kit"
	"sluice/test/recorded"
)

func TestMain(m *testing.M) { recorded.Main(m) }

func TestAnswersAreThoseOfIngressNginx(t *testing.T) {
	t.Parallel()
	wantEachCause(t)
	groups := recorded.Groups(t, recorded.Read(t))
	nginxes := kit.Nginxes(t)
	for i, nginx := range nginxes {
		for _, name := range slices.Sorted(maps.Keys(groups)) {
			t.Run(nginx.Name+"/"+name, func(t *testing.T) {
				t.Parallel()
				askAll(t, nginx.Root, groups[name], func(s *recorded.Scenario) bool { return *each || turn(s)%len(nginxes) == i })
			})
		}
	}
}

// each has every nginx asked for every world.
var each = flag.Bool("each", false, "ask every nginx for every world")

// turn is the number of the nginx that a world is asked of, by its name.
func turn(s *recorded.Scenario) int {
	h := fnv.New32a()
	h.Write([]byte(s.Name))
	return int(h.Sum32() >> 8)
}

// askAll goes through those worlds that are asked, of all that one Sluice serves. It puts the
// objects of all in place for the first that is asked.
func askAll(t *testing.T, root string, scenarios []*recorded.Scenario, asked func(*recorded.Scenario) bool) {
	var files map[string]string
	var worlds map[string]*recorded.World
	server := sync.OnceValue(func() *recorded.Sluice {
		files, worlds = recorded.Files(t, scenarios)
		return recorded.Start(t, root, files, recorded.Flags(scenarios, worlds))
	})
	for _, s := range scenarios {
		if !asked(s) {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			running := server()
			askWorld(t, newWorld(worlds[s.Name], objectsOf(worlds[s.Name], files)), running)
		})
	}
}

// askWorld asks the requests of a world, and wants a cause for each place that differs.
func askWorld(t *testing.T, w *world, server *recorded.Sluice) {
	w.In(t)
	record := recorded.ReadRecord(t, w.Name)
	for i := range w.Requests {
		a := &asked{world: w, index: i, Request: &w.Requests[i], want: record.Answers[i]}
		a.got = w.Ask(server, i, a.want)
		if a.got.Err != "" && a.want.Err == "" {
			t.Errorf("%s: no answer: %s", w.Question(i), a.got.Err)
		}
		if record.Served && !byChance[w.Name] {
			a.hold(t)
		}
		if fault := a.explainFault(); fault != "" {
			t.Errorf("%s: %s", w.Question(i), fault)
		}
	}
}

// hold wants a cause for each place that differs, unless the request waits.
func (a *asked) hold(t *testing.T) {
	t.Helper()
	var unexplained []string
	for _, difference := range a.differences() {
		place, _, _ := strings.Cut(difference, ": ")
		if c := a.cause(place); c == nil {
			unexplained = append(unexplained, difference)
		} else {
			explained.Store(c.row, true)
		}
	}
	name := fmt.Sprintf("%s #%d", a.world.Name, a.index)
	switch why := waits[name]; {
	case why == "" && len(unexplained) > 0:
		t.Errorf("%s differs:\n\t%s\n\tserved by %s: %s", a.world.Question(a.index), strings.Join(unexplained, "\n\t"), cmp.Or(a.winner(), "nobody"), a.explained().Outcome)
	case why != "" && why != olderNginx && len(unexplained) == 0:
		t.Errorf("%s waits for %s, and nothing of it differs: take it off waits_test.go", name, why)
	}
}

// byChance are worlds whose Ingresses are of one second, so that chance decided their order
// when the answers were recorded.
var byChance = map[string]bool{"rnd-11-47": true, "rnd-11-74": true}
