package events

import (
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"sluice/internal/model"
)

// What is gone a moment later is not told, however often it comes: a solver of
// cert-manager has an Ingress before its Service has endpoints.
func TestAProblemOfAMomentIsNotSaid(t *testing.T) {
	inBubble(t, func(w *world) {
		r := w.start("sluice-0", true)
		for range 5 {
			w.reportFor(settled-time.Millisecond, r, mistake)
			w.reportFor(time.Minute, r)
		}
		w.wantRequests()
		w.reportFor(settled, r, mistake)
		w.wantRequests("POST")
	})
}

// Who leads from now on does not tell what came a moment ago at once either.
func TestANewLeaderWaitsForWhatCameAMomentAgo(t *testing.T) {
	inBubble(t, func(w *world) {
		r := w.start("sluice-0", false)
		w.reportFor(time.Second, r, mistake)
		r.setLeads(true)
		w.wantRequests()
		time.Sleep(settled)
		synctest.Wait()
		w.wantRequests("POST")
	})
}

// An owner who was told of a Problem is told of its end.
func TestAMendedProblemIsTold(t *testing.T) {
	inBubble(t, func(w *world) {
		r := w.start("sluice-0", true)
		w.report(r, mistake)
		w.report(r)
		w.wantRequests("POST", "POST")
		for _, e := range w.events() {
			if e.Type != corev1.EventTypeNormal {
				continue
			}
			const want = `nginx.ingress.kubernetes.io/limit-rps: mended; it was InvalidValue: want a whole number from 1 to 100000 (got "ten")`
			if e.Reason != "Mended" || e.Message != want || e.InvolvedObject.UID != "uid of Ingress shop/web" {
				t.Errorf("%s: %s, of %v", e.Reason, e.Message, e.InvolvedObject)
			}
			time.Sleep(3 * time.Hour)
			synctest.Wait()
			w.wantRequests()
			return
		}
		t.Error("its end is not told")
	})
}

// What is away for a moment is not mended, and not said again when it is back.
func TestAProblemThatIsAwayForAMomentIsNotMended(t *testing.T) {
	inBubble(t, func(w *world) {
		r := w.start("sluice-0", true)
		w.report(r, mistake)
		for range 5 {
			w.reportFor(settled-time.Millisecond, r)
			w.reportFor(time.Minute, r, mistake)
		}
		w.wantRequests("POST")
		w.report(r)
		w.wantRequests("POST")
	})
}

// The end is not told where the object went too, where another mistake took the
// place, and where nobody was told.
func TestWhatIsNoMending(t *testing.T) {
	inBubble(t, func(w *world) {
		r := w.start("sluice-0", true)
		w.report(r, mistake)
		w.report(r, other(1))
		w.wantRequests("POST", "POST") // the two mistakes
		r.Problems(nil, func(model.ObjectRef) (types.UID, string, bool) { return "", "", false })
		time.Sleep(time.Minute)
		synctest.Wait()
		w.wantRequests()
		w.reportFor(time.Second, r, other(2))
		w.reportFor(time.Minute, r)
		w.wantRequests()
	})
}
