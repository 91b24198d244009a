package controller

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/nginx"
	"sluice/internal/quarantine"
)

// turnUntil lets a controller handle the results of its trials until a condition holds.
func (c *Controller) turnUntil(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.After(2 * time.Minute); !holds(); {
		select {
		case tried := <-c.trials.ended:
			c.trialEnded(t.Context(), tried)
		case <-deadline:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// TestRefusedTogetherWithAnotherIsTriedAgain: nginx rejected an Ingress because of
// another one, on which its refusal does not depend. It is tested separately after a
// while, without any change, and at growing intervals if it fails.
func TestRefusedTogetherWithAnotherIsTriedAgain(t *testing.T) {
	t.Parallel()
	source := &objects{}
	source.Ingresses = []*networkingv1.Ingress{form("web", "a.example"), form("other", "b.example")}
	c := idle(t, source)
	var later atomic.Int64
	c.quarantine = quarantine.New(quarantine.Judge{Same: sameForm, Protects: c.protectsMore}, func() time.Time { return time.Now().Add(time.Duration(later.Load())) })
	c.trials.process = &fake{}
	go c.trials.run(t.Context())
	c.sync(t.Context())
	wait := time.Duration(0)
	for range 3 {
		c.applied(t.Context(), outcome{plan: c.submitted(), culprits: []culprit{{object: refOf(web), text: "duplicate upstream"}}})
		if c.latest.served.Ingress(web) != nil {
			t.Fatal("it is not in quarantine")
		}
		longer := time.Until(c.quarantine.Due(func(string) bool { return false }).Add(-time.Duration(later.Load())))
		if longer < wait+wait/2 || longer > time.Hour {
			t.Errorf("it is tried again after %v, and before after %v", longer, wait)
		}
		wait = longer
		c.submitted()
		later.Add(int64(longer) + 1)
		c.trials.begin(c.quarantine, c.latest, c.latest.runsIn(nil))
		c.turnUntil(t, "the end of the quarantine", func() bool { return c.latest.served.Ingress(web) != nil })
	}
}

// scene is one combination.
type scene struct {
	block   string
	place   place
	names   naming
	beside  string
	host    string
	running bool
}

func (s scene) String() string {
	return fmt.Sprintf("%s: %v, names %s, beside %s, on %s, running %v", s.block, s.place.site, s.names, s.beside, s.host, s.running)
}

// These are the maximum numbers of loads and of tests of small files that a scene takes.
const (
	mostLoads = 9
	mostSmall = 16
)

// play lets nginx refuse the lines of a scene, and wants everybody else to be served. A real nginx
// judges the files with these lines if there is one.
func (s scene) play(t *testing.T, on *stage) {
	t.Helper()
	c, source := on.controller(t, s.beside)
	var later time.Duration
	c.quarantine = quarantine.New(quarantine.Judge{Same: sameForm, Protects: c.protectsMore}, func() time.Time { return time.Now().Add(later) })
	c.streams.quarantine = c.quarantine
	n := &fake{injected: map[string]bool{}, names: s.names, kills: 2}
	if len(s.place.lines) == 0 {
		n.faults = []fault{{object: theBad, names: s.names}}
	}
	others := on.linesBeside(t, s.beside)
	for _, line := range s.place.lines {
		n.injected[line] = !others[line]
	}
	if on.nginx != nil {
		n.nginx = on.nginx
	}
	if s.running {
		c.sync(t.Context())
		n.settle(t, c)
		n.check(t, c)
	}
	began := *n
	source.Ingresses = append(slices.Clip(source.Ingresses), badOf(s.block, s.host))
	c.sync(t.Context())
	if n.judge(c.latest.file) == nil {
		on.idle.Add(1)
		return // the block is otherwise beside this neighbour
	}
	n.settle(t, c)
	for tries := 0; tries < 8 && c.quarantine.Undecided() > 0; tries++ {
		later += 5 * time.Second
		c.tryDue()
		n.settle(t, c)
	}
	n.check(t, c, theBad)
	if err := n.judge(c.latest.file); err != nil {
		t.Errorf("nginx refuses the file in the end: %v", err)
	}
	if on.nginx != nil {
		if err := on.nginx.Test(t.Context(), c.latest.file); err != nil {
			t.Errorf("nginx refuses the file in the end: %v", err)
		}
	}
	n.loads, n.tests, n.apart = n.loads-began.loads, n.tests-began.tests, n.apart-began.apart
	loads, small := mostLoads, mostSmall
	if on.nginx == nil && slices.Contains(plainly, s.names) && s.beside != "client certificates" {
		loads, small = 5, 12
	}
	if n.loads > loads || n.apart > small {
		t.Errorf("%d loads, %d small files, %d others", n.loads, n.apart, n.tests)
	}
}

// mostRefuse wants nginx to refuse a line in nine of ten scenes, when they have ended.
func (st *stage) mostRefuse(t *testing.T, scenes int) {
	t.Helper()
	t.Cleanup(func() {
		idle := int(st.idle.Load())
		t.Logf("of %d scenes, nginx refused nothing in %d", scenes, idle)
		if idle > scenes/10 {
			t.Errorf("of %d scenes, nginx refused nothing in %d", scenes, idle)
		}
	})
}

// plainly are what a scene may name that takes fewer loads and tests.
var plainly = []naming{byLine, byWord, silent}

// namings are what nginx names in scenes: the first four can be had of a real one.
var namings = []naming{byLine, byWord, silent, elsewhere, killed, slow}

// allScenes runs all combinations in memory, which takes many minutes.
var allScenes = flag.Bool("all-scenes", false, "run all combinations of what nginx refuses in memory")

// chosen are scenes in which each two of a block, what nginx names, a neighbour, a host, and a
// new or running pod are together. The sites of a block take turns.
func (st *stage) chosen(t *testing.T, namings []naming) (scenes []scene) {
	t.Helper()
	names, besides := slices.Sorted(maps.Keys(blocks)), slices.Sorted(maps.Keys(neighbours))
	turns := map[string]int{}
	for _, row := range pairwise(len(names), len(namings), len(besides), len(hosts), 2) {
		s := scene{block: names[row[0]], names: namings[row[1]], beside: besides[row[2]], host: hosts[row[3]], running: row[4] == 1}
		if len(st.sitesOf(t, s.block, s.host)) == 0 {
			s.host = ownHost // the block is for the owner of a host
		}
		if sites := st.sitesOf(t, s.block, s.host); len(sites) > 0 {
			s.place = sites[turns[s.block]%len(sites)]
			turns[s.block]++
			scenes = append(scenes, s)
		}
	}
	return scenes
}

// printed is a place of a block on a host.
type printed struct {
	block, host string
	place       place
}

// elsewhereOf is 0 on a host, and else 1.
func elsewhereOf(p printed, host string) int {
	if p.host == host {
		return 0
	}
	return 1
}

// fewer are scenes in which each two of a kind of place, what nginx names, a neighbour, a host, and
// a new or running pod are together, and each block at least once.
func (st *stage) fewer(t *testing.T, names []naming) (scenes []scene) {
	t.Helper()
	byKind := map[string][]printed{}
	for _, block := range slices.Sorted(maps.Keys(blocks)) {
		for _, host := range hosts {
			for _, place := range st.sitesOf(t, block, host) {
				byKind[place.site.kind()] = append(byKind[place.site.kind()], printed{block, host, place})
			}
		}
	}
	kinds, besides := slices.Sorted(maps.Keys(byKind)), slices.Sorted(maps.Keys(neighbours))
	used := map[string]int{}
	add := func(p printed, name, beside int, running bool) {
		used[p.block]++
		scenes = append(scenes, scene{p.block, p.place, names[name%len(names)], besides[beside%len(besides)], p.host, running})
	}
	for _, row := range pairwise(len(kinds), len(names), len(besides), len(hosts), 2) {
		host := hosts[row[3]]
		add(slices.MinFunc(byKind[kinds[row[0]]], func(a, b printed) int {
			return cmp.Or(elsewhereOf(a, host)-elsewhereOf(b, host), used[a.block]-used[b.block])
		}), row[1], row[2], row[4] == 1)
	}
	for _, kind := range kinds {
		for i, p := range byKind[kind] {
			if used[p.block] == 0 {
				add(p, i, i, i%2 == 1)
			}
		}
	}
	return scenes
}

// all are all combinations.
func (st *stage) all(t *testing.T) (scenes []scene) {
	t.Helper()
	for block := range blocks {
		for _, host := range hosts {
			for _, place := range st.sitesOf(t, block, host) {
				for _, names := range namings {
					for beside := range neighbours {
						scenes = append(scenes, scene{block, place, names, beside, host, false}, scene{block, place, names, beside, host, true})
					}
				}
			}
		}
	}
	return scenes
}

// TestAnyBlockRefused: nginx refuses any line of any block, whatever it names, beside any
// neighbour. Everybody else is served, and few loads and tests are needed.
func TestAnyBlockRefused(t *testing.T) {
	t.Parallel()
	st := newStage(t, nil)
	scenes := st.chosen(t, namings)
	if *allScenes {
		scenes = st.all(t)
	}
	for i := range 4 * len(plainly) { // any line of an Ingress, also those that others have
		scenes = append(scenes, scene{block: "mirror", names: plainly[i/4], beside: "auth-signin", host: hosts[i%2], running: i/2%2 == 1})
	}
	st.mostRefuse(t, len(scenes))
	for _, s := range scenes {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			s.play(t, st)
		})
	}
}

// TestAnyBlockRefusedByNginx: the same with what each real nginx says. It tests files, and runs
// no workers.
func TestAnyBlockRefusedByNginx(t *testing.T) {
	t.Parallel()
	for _, root := range []string{"", os.Getenv("SLUICE_NGINX_ROOT")} {
		install, err := nginx.Inspect(t.Context(), nginx.Options{Root: root})
		if err != nil {
			t.Fatal(err)
		}
		st := newStage(t, &install)
		scenes := st.fewer(t, namings[:4])
		st.mostRefuse(t, len(scenes))
		for _, s := range scenes {
			t.Run(install.Version+" "+s.String(), func(t *testing.T) {
				t.Parallel()
				s.play(t, st)
			})
		}
		if root == "" && os.Getenv("SLUICE_NGINX_ROOT") == "" {
			return
		}
	}
}

// TestClosedNeighbourHidesNobody: an untested Ingress with client certificates closes its host whole,
// so that nothing of another one on it is in the file. The other one is tested as it is printed
// on an open host: else it would pass, and whoever opens the host would be refused for it.
func TestClosedNeighbourHidesNobody(t *testing.T) {
	t.Parallel()
	st := newStage(t, nil)
	for _, block := range []string{"fallback-path", "custom-errors", "affinity"} {
		for _, place := range st.sitesOf(t, block, sharedHost) {
			for _, names := range namings {
				s := scene{block, place, names, "client certificates", sharedHost, false}
				t.Run(s.String(), func(t *testing.T) {
					t.Parallel()
					s.play(t, st)
				})
			}
		}
	}
}

// TestAClosedNeighbourIsNoOther: of two that protect and are refused on one host, the first is closed
// when the second comes. The second is refused, and nobody else is suspected.
func TestAClosedNeighbourIsNoOther(t *testing.T) {
	t.Parallel()
	source := &objects{}
	source.say(allowing())
	source.Ingresses = []*networkingv1.Ingress{plain("good", "open", "h.example"), plain("good", "guard", "h.example", "whitelist-source-range", "10.0.0.0/8")}
	c := idle(t, source)
	c.Translate.ConfigMap = config
	n := &fake{}
	c.sync(t.Context())
	n.settle(t, c)
	for _, name := range []string{"c", "a"} {
		n.faults = append(n.faults, fault{object: objectOf("bad", name), behaviour: "configuration-snippet", names: byLine})
		source.Ingresses = append(slices.Clip(source.Ingresses), plain("bad", name, "h.example", "whitelist-source-range", "10.0.0.0/8", "configuration-snippet", "set $x 1;"))
		before := n.apart
		c.sync(t.Context())
		n.settle(t, c)
		n.check(t, c, objectOf("bad", "c"), objectOf("bad", name))
		if tests := n.apart - before; tests > mostSmall {
			t.Errorf("%d small files for %s", tests, name)
		}
	}
}
