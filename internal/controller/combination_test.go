package controller

import (
	"sync/atomic"
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"

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
