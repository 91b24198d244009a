package controller

import "testing"

// TestPlanOfBeforeTheQuarantineTakesNothingAway: a plan that was handed over
// before an Ingress went to quarantine is refused for the same form again. That
// says nothing about the last good form, which must go on being served.
func TestPlanOfBeforeTheQuarantineTakesNothingAway(t *testing.T) {
	t.Parallel()
	q := newQuarantine(never)
	bad, good := form("web", "bad"), form("web", "good")
	before := &plan{snap: snap(t, bad), served: snap(t, bad)}
	found := culprit{object: refOf(web), text: "refused"}
	if !q.add(before, found, good) {
		t.Fatal("nothing changed")
	}
	if q.add(before, found, good) {
		t.Error("the same news changed something")
	}
	served, _ := q.substitute(before.snap)
	if got := hosts(served); got["web"] != "good" {
		t.Errorf("served %v, want the last good form", got)
	}
}
