// Package differential asks route.Match and real nginx the same questions. It
// makes sets of Ingresses by chance, with hosts that overlap, paths that collide
// and patterns of a grammar, and requests that come near them; what route.Match
// says on the model of translate must be what every nginx does that runs the file
// which render made of the same model: which rule answers, what its Service is
// asked for, where a redirect leads, or which status nginx answers by itself.
//
//	SLUICE_DIFFERENTIAL_SEED=7    other sets than those of the seed 1
//	SLUICE_DIFFERENTIAL_SETS=100  fewer or more of them than 2000
//
// The same seed makes the same sets. Many sets, each with hosts of its own, share
// an nginx.conf and the requests for hosts that nobody has: that is a world. A
// disagreement is made smaller as long as it stays one, and printed as a case for
// test/golden. FuzzDifferential goes on with other seeds for as long as asked
// (`make fuzz FUZZTIME=1h`).
package differential

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"sluice/internal/route"
	"sluice/test/kit"
)

const (
	// usualSeed and usualSets are those of a run that says nothing else.
	usualSeed = 1
	usualSets = 2000
	// setsOfWorld is how many sets share an nginx.conf.
	setsOfWorld = 125
	// mostStarts bounds how often nginx is started to make one disagreement smaller.
	mostStarts = 50
	// mostUnknown is how many requests of a thousand may hang on a pattern that
	// package pcre does not do: possessive groups of which PCRE2 itself may miss a
	// match.
	mostUnknown = 25
)

// kinds are what requests must have met, or the test shows less than it says.
var kinds = []string{
	"location =", "location ^~", "location ", "location ~*", "missed", "301", "302", "400", "404", "503", "a service", "rewritten",
	"HTTPS by the server", "HTTPS by a location",
}

func TestDifferential(t *testing.T) {
	t.Parallel()
	seed, sets := fromEnvironment(t, "SLUICE_DIFFERENTIAL_SEED", usualSeed), fromEnvironment(t, "SLUICE_DIFFERENTIAL_SETS", usualSets)
	seen := newTally()
	t.Run("worlds", func(t *testing.T) {
		for number := 0; number*setsOfWorld < sets; number++ {
			t.Run(strconv.Itoa(number), func(t *testing.T) {
				t.Parallel()
				w := makeWorld(uint64(seed), number, min(setsOfWorld, sets-number*setsOfWorld)).told(t, route.Match)
				for _, nginx := range kit.Nginxes(t) {
					c := &comparison{match: route.Match, site: newSite(t, nginx), seen: seen, starts: mostStarts}
					c.of(t, w)
				}
			})
		}
	})
	t.Logf("seed %d, %d sets: of %d answers of nginx %v", seed, sets, seen.answers, seen.counts)
	if seen.counts["unknown"]*1000 > seen.answers*mostUnknown {
		t.Errorf("route.Match cannot tell the answer of %d of %d requests", seen.counts["unknown"], seen.answers)
	}
	for _, kind := range kinds {
		if seen.counts[kind] == 0 && sets >= usualSets {
			t.Errorf("no request met this: %s", kind)
		}
	}
}

// fromEnvironment reads a whole number.
func fromEnvironment(t *testing.T, name string, usual int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	number, err := strconv.Atoi(text)
	if err != nil || number < 1 {
		t.Fatalf("%s: want a whole number from 1 (got %q)", name, text)
	}
	return number
}

// FuzzDifferential compares small worlds. A run may take no more than the ten
// seconds that Go gives it, so that a disagreement is made smaller only a little;
// it is when the seed that failed is run again, as Go says how to.
func FuzzDifferential(f *testing.F) {
	forget(f)
	var sites []*kit.Site
	for _, nginx := range kit.Nginxes(f) {
		sites = append(sites, newSite(f, nginx))
	}
	starts := mostStarts
	if worker := flag.Lookup("test.fuzzworker"); worker != nil && worker.Value.String() == "true" {
		starts = 5
	}
	f.Add(uint64(usualSeed))
	f.Fuzz(func(t *testing.T, seed uint64) {
		c := &comparison{match: route.Match, site: sites[seed/12%uint64(len(sites))], seen: newTally(), starts: starts}
		c.of(t, makeWorld(seed, int(seed%12), 40).told(t, route.Match))
	})
}

// forget throws away the seeds that Go keeps of earlier runs. It would try them
// all again first, and have no time left for others.
func forget(f *testing.F) {
	f.Helper()
	if kept := flag.Lookup("test.fuzzcachedir"); kept != nil && kept.Value.String() != "" {
		if err := os.RemoveAll(filepath.Join(kept.Value.String(), f.Name())); err != nil {
			f.Fatal(err)
		}
	}
}
