package debug

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/model"
)

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// TestProblemsAreWaitedFor until they differ for the client, or its time is over.
func TestProblemsAreWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := stateOf(t, shopManifests)
		var published atomic.Pointer[State]
		published.Store(state)
		o := optionsOf(state)
		o.State = published.Load
		before := get(t, o, "/problems?namespace=wild")
		began := time.Now()
		if now := get(t, o, "/problems?namespace=wild&wait=30&since="+sumOf("others")); now != before || time.Since(began) > 0 {
			t.Errorf("another answer is known: after %v\n%s", time.Since(began), now)
		}
		if now := get(t, o, "/problems?namespace=wild&wait=30&since="+sumOf(before)); now != before || time.Since(began) != 30*time.Second {
			t.Errorf("nothing changes: after %v\n%s", time.Since(began), now)
		}
		began = time.Now()
		go func() {
			time.Sleep(time.Second)
			other := *state // of another namespace
			other.Problems = model.SortProblems(append([]model.Problem{{Object: model.ObjectRef{Kind: "Ingress", Namespace: "a", Name: "a"}}}, state.Problems...))
			published.Store(&other)
			time.Sleep(time.Second)
			published.Store(&State{Snapshot: state.Snapshot})
		}()
		if now := get(t, o, "/problems?namespace=wild&wait=30&since="+sumOf(before)); now != "[]\n" || time.Since(began) < 2*time.Second || time.Since(began) > 2*time.Second+2*lookEach {
			t.Errorf("they went: after %v\n%s", time.Since(began), now)
		}
	})
}

func TestWaitsThatAreRefused(t *testing.T) {
	t.Parallel()
	o := optionsOf(stateOf(t, shopManifests))
	sum := sumOf("")
	for query, want := range map[string]string{
		"wait=1":                  "want since and wait together",
		"since=" + sum:            "want since and wait together",
		"since=abc&wait=1":        `since: want the SHA-256 of the answer before in hexadecimal (got "abc")`,
		"since=" + sum + "&wait=": `wait: want seconds from 1 to 60 (got "")`,
		"wait=61&since=" + sum:    `wait: want seconds from 1 to 60 (got "61")`,
	} {
		if status, text := ask(o, http.MethodGet, "/problems?"+query); status != http.StatusBadRequest || text != want+"\n" {
			t.Errorf("%s: %d %s", query, status, text)
		}
	}
}
