package status

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"sluice/internal/kube"
	"sluice/internal/snapshot"
)

func TestStatusIsAppliedOnce(t *testing.T) {
	inBubble(t, func(w *world) {
		safe := snapshot.Name{Namespace: "shop", Name: "safe"}
		w.create(web)
		w.create(safe, networkingv1.IngressTLS{Hosts: []string{"shop.example"}})
		r := w.start("2001:db8::1", "192.0.2.1", "lb.example")
		w.want(web, "192.0.2.1:80 2001:db8::1:80 lb.example:80")
		w.want(safe, "192.0.2.1:80:443 2001:db8::1:80:443 lb.example:80:443")
		if m := w.get(web).ManagedFields; len(m) != 1 || m[0].Manager != FieldManager || m[0].Operation != "Apply" || m[0].Subresource != "status" {
			t.Errorf("managed fields: %v", m)
		}
		w.wantWrites(2)
		w.pass(10*time.Minute, r)
		w.serve(r)
		w.wantWrites(0)
	})
}

func TestAnEqualStatusIsNotWritten(t *testing.T) {
	inBubble(t, func(w *world) {
		w.create(web)
		ing := w.get(web)
		for _, ip := range []string{"192.0.2.2", "192.0.2.1"} {
			ing.Status.LoadBalancer.Ingress = append(ing.Status.LoadBalancer.Ingress, networkingv1.IngressLoadBalancerIngress{IP: ip, Ports: []networkingv1.IngressPortStatus{port(80)}})
		}
		w.api.Put(kube.Ingresses, ing)
		r := w.start("192.0.2.1", "192.0.2.2")
		w.pass(time.Minute, r)
		w.wantWrites(0)
	})
}

func TestPortErrorsAreWritten(t *testing.T) {
	inBubble(t, func(w *world) {
		w.create(web)
		r := w.start("192.0.2.1")
		failed := port(80)
		failed.Error = new(Refused)
		r.Served([]Served{{Name: web, UID: w.get(web).UID, Ports: []networkingv1.IngressPortStatus{failed}}})
		synctest.Wait()
		w.want(web, "192.0.2.1:80!sluice.io/Refused")
	})
}

// 5,000 statuses are written within 30 s at the rate that the client has by
// default, at most ten at a time, and a sync waits for none of them.
func TestAllStatusesAreWrittenInTime(t *testing.T) {
	inBubble(t, func(w *world) {
		const n = 5000
		for i := range n {
			w.create(snapshot.Name{Namespace: "shop", Name: fmt.Sprint("web-", i)})
		}
		var now, most atomic.Int32
		w.api.Intrude(func(*http.Request) error {
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(20 * time.Millisecond)
			now.Add(-1)
			return nil
		})
		r := w.prepare(w.api.ClientOf("sluice/test", 200), "192.0.2.1")
		r.leads.Store(true)
		start := time.Now()
		go r.Run(w.Context(), &r.lead)
		w.serve(r)
		if took := time.Since(start); took != 0 {
			t.Errorf("Served took %s", took)
		}
		time.Sleep(30 * time.Second)
		synctest.Wait()
		w.wantWrites(n)
		w.inform()
		for name, ing := range w.known {
			if len(ing.Status.LoadBalancer.Ingress) != 1 {
				t.Fatalf("%s has no status after 30 s", name)
			}
		}
		if most.Load() > parallel || most.Load() < 2 {
			t.Errorf("%d writes at a time, want at most %d", most.Load(), parallel)
		}
	})
}

func TestOnlyTheLeaderWrites(t *testing.T) {
	inBubble(t, func(w *world) {
		w.create(web)
		a, b := w.prepare(w.api.Client(), "192.0.2.1"), w.prepare(w.api.Client(), "192.0.2.1")
		for _, r := range []*replica{a, b} {
			go r.Run(w.Context(), &r.lead)
			w.serve(r)
		}
		w.pass(5*time.Minute, a, b)
		w.wantWrites(0)
		a.setLeads(true)
		w.want(web, "192.0.2.1:80")
		w.wantWrites(1)
		w.pass(time.Minute, a, b)

		a.setLeads(false)
		b.setLeads(true)
		w.pass(5*time.Minute, a, b)
		w.wantWrites(0)

		// Whatever was written before, what counts is what is there now.
		w.overwrite(web, "203.0.113.9")
		b.setLeads(false)
		w.inform()
		a.setLeads(true)
		w.want(web, "192.0.2.1:80")
		w.wantWrites(1)
	})
}

func TestWritingStopsWithTheLeadership(t *testing.T) {
	inBubble(t, func(w *world) {
		for i := range 500 {
			w.create(snapshot.Name{Namespace: "shop", Name: fmt.Sprint("web-", i)})
		}
		w.api.Intrude(func(*http.Request) error { time.Sleep(time.Second); return nil })
		r := w.start("192.0.2.1")
		time.Sleep(5500 * time.Millisecond)
		synctest.Wait()
		r.setLeads(false)
		time.Sleep(time.Minute)
		synctest.Wait()
		w.wantWrites(6 * parallel) // those that were on their way
	})
}

func TestAddressesComeAndChange(t *testing.T) {
	inBubble(t, func(w *world) {
		w.create(web)
		r := w.start()
		w.pass(30*time.Second, r)
		w.wantWrites(0)
		addresses := parseAll([]string{"192.0.2.1"})
		r.addresses.Store(&addresses)
		w.pass(40*time.Second, r)
		w.want(web, "192.0.2.1:80")
		addresses = parseAll([]string{"192.0.2.2"})
		r.addresses.Store(&addresses)
		r.Refresh()
		synctest.Wait()
		w.want(web, "192.0.2.2:80")

		// A load balancer that loses its address for a while is a gap, and no
		// reason for DNS to forget the Ingresses.
		none := []Address{}
		r.addresses.Store(&none)
		r.Refresh()
		w.pass(5*time.Minute, r)
		w.want(web, "192.0.2.2:80")
	})
}

func TestAnotherIngressOfTheNameIsNotWritten(t *testing.T) {
	inBubble(t, func(w *world) {
		w.create(web)
		r := w.start("192.0.2.1")
		w.api.Delete(kube.Ingresses, web)
		w.create(web)
		w.pass(time.Minute, r)
		w.want(web, "")
		w.serve(r)
		w.want(web, "192.0.2.1:80")
		if w.logged() != "" && strings.Contains(w.logged(), "ERROR") {
			t.Error("a deleted Ingress is no error")
		}
	})
}

// The informer knows less than the API server has: the Ingress is another.
func TestTheUIDKeepsAWriteFromAnotherIngress(t *testing.T) {
	inBubble(t, func(w *world) {
		w.create(web)
		r := w.prepare(w.api.Client(), "192.0.2.1")
		r.leads.Store(true)
		w.inform()
		uid := w.get(web).UID
		w.api.Delete(kube.Ingresses, web)
		w.create(web)
		go r.Run(w.Context(), &r.lead)
		for _, forbids := range []bool{false, true} {
			w.forbidPatch(forbids)
			r.Served([]Served{{Name: web, UID: uid}})
			time.Sleep(time.Minute)
			synctest.Wait()
			w.want(web, "")
		}
	})
}

// forbidPatch grants what ingress-nginx's ClusterRole does.
func (w *world) forbidPatch(forbids bool) {
	w.api.Intrude(func(r *http.Request) error {
		if forbids && r.Method == http.MethodPatch {
			return apierrors.NewForbidden(networkingv1.Resource("ingresses/status"), "web", errors.New("cannot patch"))
		}
		return nil
	})
}

func TestWithoutPatchTheStatusIsUpdated(t *testing.T) {
	inBubble(t, func(w *world) {
		w.create(web)
		w.forbidPatch(true)
		r := w.start("192.0.2.1")
		w.want(web, "192.0.2.1:80")
		if w.get(web).Annotations["kept"] != "yes" {
			t.Error("the update removed an annotation")
		}
		w.wantWrites(2)
		w.inform()

		// That it is forbidden is remembered for an hour.
		for i, writes := range []int{1, 1, 2} {
			addresses := parseAll([]string{fmt.Sprint("192.0.2.", 10+i)})
			r.addresses.Store(&addresses)
			r.Refresh()
			synctest.Wait()
			w.want(web, fmt.Sprintf("192.0.2.%d:80", 10+i))
			w.wantWrites(writes)
			w.pass(31*time.Minute, r)
		}
		w.forbidPatch(false)
		w.pass(30*time.Minute, r)
		addresses := parseAll([]string{"192.0.2.30"})
		r.addresses.Store(&addresses)
		r.Refresh()
		synctest.Wait()
		if writes := w.writes(); len(writes) != 1 || !strings.HasPrefix(writes[0], "PATCH ") {
			t.Errorf("a patch is allowed again, but there were %q", writes)
		}
	})
}

// An Ingress that changes between reading and updating is read again.
func TestAnUpdateIsRepeatedAfterAConflict(t *testing.T) {
	inBubble(t, func(w *world) {
		w.create(web)
		var conflicts atomic.Int32
		w.api.Intrude(func(r *http.Request) error {
			switch {
			case r.Method == http.MethodPatch:
				return apierrors.NewForbidden(networkingv1.Resource("ingresses/status"), "web", errors.New("cannot patch"))
			case r.Method == http.MethodPut && conflicts.Add(1) <= 2:
				ing := w.get(web)
				ing.Annotations["kept"] = fmt.Sprint("yes ", conflicts.Load())
				w.api.Put(kube.Ingresses, ing)
			}
			return nil
		})
		w.start("192.0.2.1")
		w.want(web, "192.0.2.1:80")
		if kept := w.get(web).Annotations["kept"]; kept != "yes 2" {
			t.Errorf("the annotation is %q: the update was made of an older Ingress", kept)
		}
	})
}

// What fails for one Ingress is tried less and less often, and holds up no other.
func TestErrorsOfOneIngressBackOff(t *testing.T) {
	inBubble(t, func(w *world) {
		bad := snapshot.Name{Namespace: "shop", Name: "bad"}
		w.create(bad)
		w.create(web)
		var tries atomic.Int32
		w.api.Intrude(func(r *http.Request) error {
			if strings.Contains(r.URL.Path, "/bad/") && tries.Add(1) > 0 {
				return apierrors.NewInternalError(errors.New("no"))
			}
			return nil
		})
		r := w.start("192.0.2.1")
		w.pass(time.Minute, r)
		w.want(web, "192.0.2.1:80")
		if n := tries.Load(); n < 4 || n > 8 {
			t.Errorf("%d tries in the first minute", n)
		}
		tries.Store(0)
		w.pass(time.Hour, r)
		if n := tries.Load(); n < 10 || n > 20 {
			t.Errorf("%d tries in the hour after", n)
		}
		if lines := strings.Count(w.logged(), "status not written"); lines == 0 || lines > 30 {
			t.Errorf("%d log lines", lines)
		}
		w.api.Intrude(nil)
		w.pass(7*time.Minute, r)
		w.want(bad, "192.0.2.1:80")
	})
}

// A replica that has lost the Lease does not know that another one has it: where Helm has
// deleted its rights, none does.
func TestReasonOfAReplicaThatDoesNotLead(t *testing.T) {
	t.Parallel()
	if got, want := (&Statuses{}).leaves(t.Context()), "this replica does not lead"; got != want {
		t.Errorf("the reason is %q, want %q", got, want)
	}
}
