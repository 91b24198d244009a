package controller

import (
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// turnUntil has a controller take in what its trials tell.
func (c *Controller) turnUntil(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.After(20 * time.Second); !holds(); {
		select {
		case tried := <-c.trials.ended:
			c.tried(t.Context(), tried)
		case <-deadline:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// TestRefusedTogetherWithAnotherIsTriedAgain: nginx refused an Ingress for what
// another one says, which nothing of its own depends on. It is tested by itself
// after a while, without any change, and later and later if that was in vain.
func TestRefusedTogetherWithAnotherIsTriedAgain(t *testing.T) {
	t.Parallel()
	source := &objects{}
	source.Ingresses = []*networkingv1.Ingress{form("web", "a.example"), form("other", "b.example")}
	c := idle(t, source)
	c.trials.process = &wordless{}
	go c.trials.run(t.Context())
	c.sync(t.Context())
	wait := time.Duration(0)
	for range 3 {
		c.applied(t.Context(), outcome{plan: c.submitted(), culprits: []culprit{{object: refOf(web), text: "duplicate upstream"}}})
		entry := c.quarantine.entries[web]
		if entry == nil || c.latest.served.Ingress(web) != nil {
			t.Fatal("it is not in quarantine")
		}
		longer := time.Until(entry.retry)
		if longer < wait+wait/2 || longer > longestRetry {
			t.Errorf("it is tried again after %v, and before after %v", longer, wait)
		}
		wait = longer
		c.submitted()
		entry.retry = time.Now().Add(20 * time.Millisecond)
		c.trials.begin(c.quarantine, c.latest)
		c.turnUntil(t, "the end of the quarantine", func() bool { return c.latest.served.Ingress(web) != nil })
	}
}

// TestWhatIsRefusedForALineIsNotTriedAgain: nothing but a change of the Ingress
// could mend it.
func TestWhatIsRefusedForALineIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	q := newQuarantine(never)
	now := snap(t, form("web", "bad"))
	q.add(&plan{snap: now, served: now}, culprit{object: model.ObjectRef{Kind: "Ingress", Namespace: web.Namespace, Name: web.Name}, text: "pcre2_compile() failed: missing closing parenthesis"}, nil)
	if !q.entries[web].retry.IsZero() {
		t.Error("it is tried again")
	}
}

// TestTrialsInVainAreRepeatedLater: nginx refuses it still.
func TestTrialsInVainAreRepeatedLater(t *testing.T) {
	t.Parallel()
	q := newQuarantine(never)
	entry := &refusal{refused: form("web", "bad"), stand: asNone, retry: time.Now().Add(-time.Second)}
	q.entries[web] = entry
	tried := *entry
	next := &trial{entries: map[snapshot.Name]*refusal{web: &tried}, culprits: map[model.ObjectRef]culprit{refOf(web): {object: refOf(web), text: "duplicate upstream"}}}
	for _, untested := range []bool{true, false} {
		entry.retry = time.Now().Add(-time.Second)
		next.untested = untested
		q.settle(next)
		if q.entries[web] != entry || entry.retry.Before(time.Now().Add(firstRetry/2)) {
			t.Errorf("untested %v: it is tried again at once", untested)
		}
	}
}
