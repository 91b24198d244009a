// Package compat holds Sluice against recorded answers of ingress-nginx 1.15.1.
// testdata has the scenarios, and for each the answers that ingress-nginx gave;
// here they are asked again, of the real Sluice with the real nginx on
// 127.0.0.1. Where Sluice answers otherwise on purpose, differences_test.go
// says why; anything else that differs fails.
package compat

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"sluice/internal/annotations"
	"sluice/internal/keys"
	"sluice/internal/settings"
	"sluice/test/kit"
	"sluice/test/recorded"
)

func TestMain(m *testing.M) { recorded.Main(m) }

func TestAnswersAreThoseOfIngressNginx(t *testing.T) {
	t.Parallel()
	groups := recorded.Groups(t, recorded.Read(t))
	for _, nginx := range kit.Nginxes(t) {
		seen := &tally{}
		t.Cleanup(func() { t.Logf("%s nginx:\n%s", nginx.Name, seen) })
		for _, name := range slices.Sorted(maps.Keys(groups)) {
			t.Run(nginx.Name+"/"+name, func(t *testing.T) {
				t.Parallel()
				askAll(t, nginx.Root, groups[name], seen)
			})
		}
	}
}

// askAll puts the objects of all scenarios in place and goes through them.
func askAll(t *testing.T, root string, scenarios []*recorded.Scenario, seen *tally) {
	files, worlds := recorded.Files(t, scenarios)
	server := recorded.Start(t, root, files, recorded.Flags(scenarios, worlds))
	for _, s := range scenarios {
		t.Run(s.Name, func(t *testing.T) {
			play(t, worlds[s.Name], server, seen)
		})
	}
}

// play sends the requests of a scenario, makes its changes, and compares.
func play(t *testing.T, w *recorded.World, server *recorded.Sluice, seen *tally) {
	w.In(t)
	if w.Unreachable() {
		t.Skip("this machine has no address but its loopback")
	}
	answers := recorded.ReadRecord(t, w.Name)
	if len(answers.Answers) != len(w.Requests) {
		t.Fatalf("want an answer for each of %d requests, got %d", len(w.Requests), len(answers.Answers))
	}
	for i := range w.Requests {
		r := &w.Requests[i]
		if r.Change != nil {
			w.Change(server, r)
			continue
		}
		seen.add(w.Scenario, judge(t, w.Question(i), w.Compare(server, i, answers)))
	}
}

// verdict is what came of a request.
type verdict int

const (
	agrees verdict = iota
	onPurpose
	missing
	wrong
)

// expected is what the lists say of a request, with the reason.
func expected(question string) (verdict, string) {
	if reason, ok := intended[question]; ok {
		return onPurpose, reason
	}
	if key, ok := notBuilt[question]; ok {
		return missing, "not built yet: " + key
	}
	return agrees, ""
}

// judge fails for a difference that the lists do not have, and for one of theirs
// that is none.
func judge(t *testing.T, question string, found []string) verdict {
	t.Helper()
	listed, reason := expected(question)
	switch {
	case len(found) > 0 && listed == agrees:
		t.Errorf("%s differs:\n\t%s", question, strings.Join(found, "\n\t"))
		return wrong
	case len(found) == 0 && listed != agrees:
		t.Errorf("%s does not differ, though differences_test.go says it does: %s", question, reason)
		return wrong
	}
	return listed
}

// The lists name requests that there are, each once, and keys that nobody reads.
func TestDifferencesNameRequests(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, s := range recorded.Read(t) {
		for i := range s.Requests {
			known[s.Question(i)] = true
		}
	}
	for _, question := range slices.Concat(slices.Collect(maps.Keys(intended)), slices.Collect(maps.Keys(notBuilt))) {
		if !known[question] {
			t.Errorf("no such request: %q", question)
		}
	}
	read := keysRead()
	for question, key := range notBuilt {
		if intended[question] != "" {
			t.Errorf("%s differs on purpose, or because of what is not built, but not both", question)
		}
		if read[key] {
			t.Errorf("%s: %s is read", question, key)
		}
	}
}

// keysRead are the annotations and settings that Sluice reads.
func keysRead() map[string]bool {
	read := map[string]bool{}
	for _, b := range annotations.All() {
		for _, doc := range b.Keys {
			read[doc.Key] = true
		}
	}
	for _, doc := range keys.Describe(settings.Settings{}) {
		read[doc.Key] = true
	}
	return read
}
