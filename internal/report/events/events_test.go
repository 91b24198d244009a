package events

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"sluice/internal/kube"
	"sluice/internal/model"
	"sluice/test/kubetest"
)

// world is an API server, and recorders that write to it, in a bubble where time
// is simulated.
type world struct {
	*testing.T
	api *kubetest.Server

	mu  sync.Mutex
	log strings.Builder
}

func inBubble(t *testing.T, test func(*world)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { test(&world{T: t, api: kubetest.New(t)}) })
}

// Write takes the log.
func (w *world) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log.Write(line)
	return len(line), nil
}

func (w *world) logged(text string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Count(w.log.String(), text)
}

// lead is a leadership that a test gives and takes.
type lead struct {
	leads   atomic.Bool
	changes chan struct{}
}

func (l *lead) IsLeader() bool           { return l.leads.Load() }
func (l *lead) Changes() <-chan struct{} { return l.changes }

func (l *lead) setLeads(leads bool) {
	l.leads.Store(leads)
	l.changes <- struct{}{}
	synctest.Wait()
}

type recorder struct {
	*Recorder
	lead
}

func (w *world) start(instance string, leads bool) *recorder {
	r := &recorder{Recorder: New(Options{Client: w.api.Client(), Instance: instance, Log: slog.New(slog.NewTextHandler(w, nil))}), lead: lead{changes: make(chan struct{}, 1)}}
	r.leads.Store(leads)
	go r.Run(w.Context(), &r.lead)
	return r
}

// lookup knows all objects but those called "unknown".
func lookup(o model.ObjectRef) (types.UID, string, bool) {
	return types.UID("uid of " + o.String()), "7", o.Name != "unknown"
}

// report gives a recorder the Problems of a sync, and the time to write them: they
// stand for so long.
func (w *world) report(r *recorder, problems ...model.Problem) {
	w.Helper()
	w.reportFor(settled, r, problems...)
}

// reportFor is report of what stands for a while.
func (w *world) reportFor(lasts time.Duration, r *recorder, problems ...model.Problem) {
	w.Helper()
	r.Problems(problems, lookup)
	synctest.Wait()
	time.Sleep(lasts)
	synctest.Wait()
}

// events gives the events that there are.
func (w *world) events() (all []corev1.Event) {
	w.Helper()
	w.api.All(kube.Events, func(decode func(kube.Object)) {
		var e corev1.Event
		decode(&e)
		all = append(all, e)
	})
	return all
}

// only gives the one event that there is.
func (w *world) only() corev1.Event {
	w.Helper()
	all := w.events()
	if len(all) != 1 {
		w.Errorf("%d events, want 1", len(all))
		return corev1.Event{}
	}
	return all[0]
}

func (w *world) wantRequests(verbs ...string) {
	w.Helper()
	var got []string
	for _, r := range w.api.Requests() {
		verb, _, _ := strings.Cut(r, " ")
		got = append(got, verb)
	}
	if fmt.Sprint(got) != fmt.Sprint(verbs) {
		w.Errorf("requests %v, want %v", got, verbs)
	}
}

var mistake = model.Problem{
	Object: model.ObjectRef{Kind: "Ingress", Namespace: "shop", Name: "web"}, Field: "nginx.ingress.kubernetes.io/limit-rps",
	Reason: model.InvalidValue, Text: `want a whole number from 1 to 100000 (got "ten")`, Denies: true,
}

// other is another mistake.
func other(n int) model.Problem {
	p := mistake
	p.Text = fmt.Sprint("mistake ", n)
	return p
}

func TestAProblemBecomesAnEvent(t *testing.T) {
	inBubble(t, func(w *world) {
		w.report(w.start("sluice-0", true), mistake)
		e := w.only()
		want := corev1.ObjectReference{APIVersion: "networking.k8s.io/v1", Kind: "Ingress", Namespace: "shop", Name: "web", UID: "uid of Ingress shop/web", ResourceVersion: "7"}
		if e.InvolvedObject != want || e.Namespace != "shop" {
			t.Errorf("it is about %v, in %s", e.InvolvedObject, e.Namespace)
		}
		if e.Message != `nginx.ingress.kubernetes.io/limit-rps: want a whole number from 1 to 100000 (got "ten"); its paths answer 503 until this is mended` {
			t.Errorf("it says %s", e.Message)
		}
		if e.Type != "Warning" || e.Reason != "InvalidValue" || e.Count != 1 || !e.FirstTimestamp.Time.Equal(time.Now()) || !e.LastTimestamp.Time.Equal(time.Now()) {
			t.Errorf("it is %v", e)
		}
		if e.ReportingController != "sluice" || e.Source.Component != "sluice" || e.ReportingInstance != "sluice-0" {
			t.Errorf("it is of %q, %q, %q", e.ReportingController, e.Source.Component, e.ReportingInstance)
		}
	})
}

func TestObjectsOfOtherKinds(t *testing.T) {
	inBubble(t, func(w *world) {
		class, secret, unknown, strange := mistake, mistake, mistake, mistake
		class.Object = model.ObjectRef{Kind: "IngressClass", Name: "nginx"}
		secret.Object = model.ObjectRef{Kind: "Secret", Namespace: "shop", Name: "tls"}
		unknown.Object.Name = "unknown"
		strange.Object.Kind = "Strange"
		w.report(w.start("sluice-0", true), class, secret, unknown, strange)
		var got []string
		for _, e := range w.events() {
			got = append(got, e.Namespace+" "+e.InvolvedObject.APIVersion+" "+e.InvolvedObject.Kind+" "+e.InvolvedObject.Namespace)
		}
		if want := []string{"default networking.k8s.io/v1 IngressClass ", "shop v1 Secret shop"}; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("events %q, want %q", got, want)
		}
	})
}

func TestAProblemThatStandsIsSaidOnceAnHour(t *testing.T) {
	inBubble(t, func(w *world) {
		r := w.start("sluice-0", true)
		for range 5 {
			w.report(r, mistake, mistake)
			time.Sleep(9*time.Minute - settled)
		}
		w.wantRequests("POST")
		time.Sleep(6 * time.Minute)
		synctest.Wait()
		w.wantRequests("PATCH")
		if e := w.only(); e.Count != 2 || e.LastTimestamp.Sub(e.FirstTimestamp.Time) != repeatAfter {
			t.Errorf("count %d, from %s to %s", e.Count, e.FirstTimestamp, e.LastTimestamp)
		}
		// The API server forgets events.
		e := w.only()
		w.api.Delete(kube.Events, e2name(e))
		time.Sleep(repeatAfter)
		synctest.Wait()
		w.wantRequests("PATCH", "POST")
		if e := w.only(); e.Count != 1 {
			t.Errorf("count %d", e.Count)
		}
	})
}

func TestAProblemThatComesBackCountsUp(t *testing.T) {
	inBubble(t, func(w *world) {
		r := w.start("sluice-0", true)
		for range 3 {
			w.report(r, mistake)
			time.Sleep(time.Minute - settled)
			w.report(r)
			time.Sleep(time.Minute - settled)
		}
		w.wantRequests("POST", "POST", "PATCH", "PATCH", "PATCH", "PATCH")
		for _, e := range w.events() {
			if e.Count != 3 || e.LastTimestamp.Sub(e.FirstTimestamp.Time) != 4*time.Minute {
				t.Errorf("%s: count %d, from %s to %s", e.Type, e.Count, e.FirstTimestamp, e.LastTimestamp)
			}
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		w.wantRequests()
		w.report(r, other(1))
		w.report(r)
		if n := len(r.kept.entries); n != 2 {
			t.Errorf("%d events are remembered, want the last Problem and its end", n)
		}
	})
}

func TestOnlyTheLeaderSaysIt(t *testing.T) {
	inBubble(t, func(w *world) {
		a, b := w.start("a", true), w.start("b", false)
		for _, r := range []*recorder{a, b} {
			w.report(r, mistake)
		}
		w.wantRequests("POST")
		time.Sleep(10*time.Minute - settled)

		// The new leader does not say it again, it only keeps the event.
		a.setLeads(false)
		b.setLeads(true)
		w.wantRequests("POST", "PATCH")
		if e := w.only(); e.Count != 1 || e.ReportingInstance != "a" || e.LastTimestamp.Sub(e.FirstTimestamp.Time) != 10*time.Minute {
			t.Errorf("the event is %v", e)
		}
		for range 2 {
			w.report(b)
			w.report(b, mistake)
		}
		w.wantRequests("POST", "PATCH", "PATCH", "PATCH")

		// The old one, who leads again, does not go by its own count.
		b.setLeads(false)
		a.setLeads(true)
		w.wantRequests("POST", "PATCH")
		for _, e := range w.events() {
			if want := map[string]int32{corev1.EventTypeWarning: 3, corev1.EventTypeNormal: 2}[e.Type]; e.Count != want {
				t.Errorf("%s: count %d, want %d", e.Type, e.Count, want)
			}
		}
		w.report(b, mistake, other(1))
		w.wantRequests()
	})
}

// What came and went while nobody could write is not said.
func TestAMendedProblemIsNotSaid(t *testing.T) {
	inBubble(t, func(w *world) {
		r := w.start("sluice-0", false)
		w.report(r, mistake)
		w.report(r)
		r.setLeads(true)
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		w.wantRequests()
	})
}

func TestAnObjectMadeAnewHasItsOwnEvent(t *testing.T) {
	inBubble(t, func(w *world) {
		r := w.start("sluice-0", true)
		w.report(r, mistake)
		r.Problems([]model.Problem{mistake}, func(model.ObjectRef) (types.UID, string, bool) { return "new", "8", true })
		time.Sleep(2 * settled)
		synctest.Wait()
		if n := len(w.events()); n != 2 {
			t.Errorf("%d events, want 2", n)
		}
	})
}

// One object takes neither the time of others nor more than its share.
func TestEventsOfOneObjectAreBounded(t *testing.T) {
	inBubble(t, func(w *world) {
		r := w.start("sluice-0", true)
		var problems []model.Problem
		for i := range 200 {
			problems = append(problems, other(i))
		}
		innocent := mistake
		innocent.Object.Name = "zoo"
		w.report(r, append(problems, innocent)...)
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := len(w.events()); n != objectBurst+1 {
			t.Errorf("%d events, want %d", n, objectBurst+1)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := len(w.events()); n <= objectBurst+1 || n > objectBurst+1+13 {
			t.Errorf("%d events an hour later", n)
		}
		if w.logged("events wait") == 0 || w.logged("events wait") > 70 {
			t.Errorf("%d lines say that events wait", w.logged("events wait"))
		}
	})
}

func TestEventsAreWrittenAtARate(t *testing.T) {
	inBubble(t, func(w *world) {
		r := w.start("sluice-0", true)
		var problems []model.Problem
		for i := range mostKept + 5 {
			p := mistake
			p.Object.Name = fmt.Sprint("web-", i)
			problems = append(problems, p)
		}
		w.report(r, problems...)
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if n := len(w.events()); n < burst+20*perSecond-1 || n > burst+20*perSecond+1 {
			t.Errorf("%d events after 20 s", n)
		}
		if len(r.kept.entries) != mostKept || w.logged("dropped=5") == 0 {
			t.Errorf("%d are kept", len(r.kept.entries))
		}
		w.reportFor(0, r)
		if len(r.kept.entries) > 800 {
			t.Errorf("%d are kept of what was mended", len(r.kept.entries))
		}
	})
}

func TestErrorsAreTriedAgainLessAndLess(t *testing.T) {
	inBubble(t, func(w *world) {
		fails := func(err error) {
			w.api.Intrude(func(*http.Request) error { return err })
		}
		fails(apierrors.NewForbidden(corev1.Resource("events"), "", errors.New("no rights")))
		r := w.start("sluice-0", true)
		w.report(r, mistake, other(1))
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := len(w.api.Requests()); n < 20 || n > 30 {
			t.Errorf("%d requests for 2 events in an hour", n)
		}
		if n := w.logged("an event is not written"); n != 1 {
			t.Errorf("it is said %d times", n)
		}
		fails(nil)
		time.Sleep(11 * time.Minute)
		synctest.Wait()
		if len(w.events()) != 2 || w.logged("mended: events") != 1 {
			t.Errorf("%d events afterwards, mended %d times", len(w.events()), w.logged("mended: events"))
		}
	})
}

// What ends needs no event, and no line in the log.
func TestANamespaceThatEnds(t *testing.T) {
	inBubble(t, func(w *world) {
		ending := apierrors.NewForbidden(corev1.Resource("events"), "", errors.New("ending"))
		ending.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
		w.api.Intrude(func(*http.Request) error { return ending })
		w.report(w.start("sluice-0", true), mistake)
		time.Sleep(40 * time.Minute)
		synctest.Wait()
		w.wantRequests("POST")
		if w.logged("ERROR") != 0 {
			t.Error("it is an error")
		}
	})
}
