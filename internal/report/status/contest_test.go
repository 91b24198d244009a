package status

import (
	"strings"
	"testing"
	"time"

	"sluice/internal/kube"
	"sluice/internal/model"
)

const ours, theirs = "192.0.2.1:80", "203.0.113.9"

// rival writes the status back, each time a while after it was written.
func (w *world) rival(r *replica, after time.Duration) {
	w.Helper()
	w.pass(after, r)
	w.overwrite(web, theirs)
	w.pass(3*time.Second, r)
}

func TestAFightIsLeftAfterTheSecondTime(t *testing.T) {
	inBubble(t, func(w *world) {
		w.create(web)
		w.overwrite(web, theirs)
		r := w.start("192.0.2.1")
		w.want(web, ours) // what was there before is no fight
		w.rival(r, time.Minute)
		w.want(web, ours)
		if len(r.Problems()) != 0 || r.problems.Load() != 0 {
			t.Errorf("a Problem after the first time: %v", r.Problems())
		}
		w.rival(r, time.Minute)
		w.want(web, theirs)
		problems := r.Problems()
		if len(problems) != 1 || r.problems.Load() != 1 {
			t.Fatalf("%d Problems, told %d times", len(problems), r.problems.Load())
		}
		p := problems[0]
		if p.Object != (model.ObjectRef{Kind: "Ingress", Namespace: "shop", Name: "web"}) || p.Reason != model.Conflict || p.Field != "status.loadBalancer.ingress" ||
			!strings.Contains(p.Text, `"nginx-ingress-controller"`) {
			t.Errorf("the Problem says %s", p)
		}

		// It is tried once an hour, and what changes otherwise does not matter.
		w.writes()
		ing := w.get(web)
		ing.Annotations["more"] = "yes"
		w.api.Put(kube.Ingresses, ing)
		w.pass(59*time.Minute, r)
		w.wantWrites(0)
		w.pass(2*time.Minute, r)
		w.want(web, ours)
		w.rival(r, time.Minute)
		w.want(web, theirs)
		w.wantWrites(1)
		w.pass(50*time.Minute, r)
		w.wantWrites(0)

		// The rival ends.
		w.pass(12*time.Minute, r)
		w.want(web, ours)
		if len(r.Problems()) != 1 {
			t.Error("the Problem is gone before it is known that the rival is")
		}
		w.pass(15*time.Minute, r)
		if len(r.Problems()) != 0 || r.problems.Load() != 2 {
			t.Errorf("Problems %v, told %d times", r.Problems(), r.problems.Load())
		}
		w.rival(r, time.Minute)
		w.want(web, ours)
	})
}

func TestWhoWritesNowAndThenIsNoRival(t *testing.T) {
	inBubble(t, func(w *world) {
		w.create(web)
		r := w.start("192.0.2.1")
		for range 4 {
			w.rival(r, 15*time.Minute)
			w.want(web, ours)
		}
		if len(r.Problems()) != 0 {
			t.Errorf("Problems: %v", r.Problems())
		}
	})
}

// An informer that lags shows what was there before the write, or between two.
func TestALateInformerIsNoRival(t *testing.T) {
	inBubble(t, func(w *world) {
		w.create(web)
		w.overwrite(web, theirs)
		r := w.start("192.0.2.1")
		for range 5 {
			r.Recheck()
			w.pause(time.Minute)
		}
		second := parseAll([]string{"192.0.2.2"})
		r.addresses.Store(&second)
		r.Refresh()
		w.pause(time.Minute)
		w.want(web, "192.0.2.2:80")
		w.pass(time.Minute, r)
		w.wantWrites(2)
		if len(r.Problems()) != 0 {
			t.Errorf("Problems: %v", r.Problems())
		}
	})
}

// A follower says nothing of a fight that it does not take part in.
func TestAFightEndsWithTheLeadership(t *testing.T) {
	inBubble(t, func(w *world) {
		w.create(web)
		r := w.start("192.0.2.1")
		w.rival(r, time.Minute)
		w.rival(r, time.Minute)
		if len(r.Problems()) != 1 {
			t.Fatal("there is no fight")
		}
		r.setLeads(false)
		if len(r.Problems()) != 0 {
			t.Errorf("Problems: %v", r.Problems())
		}
	})
}
