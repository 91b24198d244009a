package election

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"sluice/internal/kube"
	"sluice/internal/snapshot"
	"sluice/test/kubetest"
)

const ttl = 30 * time.Second

var lease = snapshot.Name{Namespace: "sluice", Name: "ingress-controller-leader"}

// candidate is a replica that asks for the Lease.
type candidate struct {
	*Elector
	stop context.CancelFunc
	// cut, if it is set, is what becomes of its requests.
	cut atomic.Pointer[func(*http.Request) error]
}

// race is candidates on one API server, in a bubble where time is simulated.
type race struct {
	*testing.T
	api *kubetest.Server

	mu         sync.Mutex
	candidates []*candidate
}

func inBubble(t *testing.T, test func(*race)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &race{T: t, api: kubetest.New(t)}
		r.api.Intrude(func(request *http.Request) error {
			for _, c := range r.all() {
				if f := c.cut.Load(); f != nil && strings.HasPrefix(request.UserAgent(), c.Identity+"/") {
					return (*f)(request)
				}
			}
			return nil
		})
		test(r)
	})
}

func (r *race) add(identity string) *candidate {
	r.Helper()
	c := r.prepare(identity)
	r.start(c)
	synctest.Wait()
	return c
}

func (r *race) prepare(identity string) *candidate {
	return &candidate{Elector: New(Options{
		Client: r.api.ClientOf(identity+"/1", 1e6), Lease: lease, Identity: identity, TTL: ttl,
		Log: slog.New(slog.NewTextHandler(r.Output(), nil)),
	})}
}

func (r *race) start(c *candidate) {
	ctx, stop := context.WithCancel(r.Context())
	c.stop = stop
	r.mu.Lock()
	r.candidates = append(r.candidates, c)
	r.mu.Unlock()
	go c.Run(ctx)
}

func (r *race) all() []*candidate {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.candidates)
}

// leaders are who leads now; more than one is a failure.
func (r *race) leaders() string {
	r.Helper()
	var all []string
	for _, c := range r.all() {
		if c.IsLeader() {
			all = append(all, c.Identity)
		}
	}
	if len(all) > 1 {
		r.Errorf("%v lead at the same time", all)
	}
	return strings.Join(all, " ")
}

// pass lets time pass and looks ten times a second who leads. It gives how long
// each led, and nobody (""), in the order that they did.
func (r *race) pass(d time.Duration) (terms []term) {
	r.Helper()
	for range d / (100 * time.Millisecond) {
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		if now := r.leaders(); len(terms) == 0 || terms[len(terms)-1].leader != now {
			terms = append(terms, term{leader: now})
		}
		terms[len(terms)-1].took += 100 * time.Millisecond
	}
	return terms
}

type term struct {
	leader string
	took   time.Duration
}

// order gives who led, one after the other.
func order(terms []term) []string {
	var all []string
	for _, t := range terms {
		all = append(all, t.leader)
	}
	return all
}

func (r *race) wantOrder(terms []term, want ...string) {
	r.Helper()
	if got := order(terms); !slices.Equal(got, want) {
		r.Fatalf("%q led in turn, want %q: %v", got, want, terms)
	}
}

func (r *race) wantBetween(what string, got, least, most time.Duration) {
	r.Helper()
	if got < least || got > most {
		r.Errorf("%s took %s, want %s to %s", what, got, least, most)
	}
}

func (r *race) spec() coordinationv1.LeaseSpec {
	r.Helper()
	var l coordinationv1.Lease
	if !r.api.Get(kube.Leases, lease, &l) {
		r.Fatal("there is no Lease")
	}
	return l.Spec
}

// hold writes the Lease as another program would.
func (r *race) hold(holder string, seconds int32, renewed time.Time) {
	r.api.Put(kube.Leases, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: lease.Namespace, Name: lease.Name},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds, RenewTime: &metav1.MicroTime{Time: renewed}, LeaseTransitions: new(int32(7))},
	})
}

func away(*http.Request) error { return errors.New("away") }

func hangs(r *http.Request) error {
	<-r.Context().Done()
	return errors.New("the client gave up")
}

func TestOneLeadsAndRenews(t *testing.T) {
	inBubble(t, func(r *race) {
		a := r.add("a")
		changes := a.Changes()
		if r.leaders() != "a" || a.LeaderIdentity() != "a" {
			t.Fatalf("%q leads, %q by name", r.leaders(), a.LeaderIdentity())
		}
		acquired := r.spec().AcquireTime
		r.api.Requests()
		r.wantOrder(r.pass(time.Minute), "a")
		if n := len(r.api.Requests()); n != 8 {
			t.Errorf("%d requests in a minute, want one each quarter of the TTL", n)
		}
		spec := r.spec()
		if *spec.HolderIdentity != "a" || *spec.LeaseDurationSeconds != 30 || ptr.Deref(spec.LeaseTransitions, 0) != 0 || !spec.AcquireTime.Equal(acquired) || !spec.RenewTime.After(acquired.Time) {
			t.Errorf("the Lease says %v", spec)
		}
		select {
		case <-changes:
			t.Error("a change was told, but there was none")
		default:
		}
	})
}

func TestAnotherLeadsSoonAfterAnOrderlyExit(t *testing.T) {
	inBubble(t, func(r *race) {
		a := r.add("a")
		b := r.add("b")
		changesOfA, changesOfB := a.Changes(), b.Changes()
		r.wantOrder(r.pass(2*time.Minute), "a")
		if b.LeaderIdentity() != "a" {
			t.Errorf("b takes %q for the leader", b.LeaderIdentity())
		}
		a.stop()
		synctest.Wait()
		if spec := r.spec(); *spec.HolderIdentity != "" {
			t.Errorf("%q still holds the Lease", *spec.HolderIdentity)
		}
		terms := r.pass(time.Minute)
		r.wantOrder(terms, "", "b")
		r.wantBetween("the gap", terms[0].took, 0, ttl/4+ttl/20)
		if n := *r.spec().LeaseTransitions; n != 1 {
			t.Errorf("%d transitions, want 1", n)
		}
		for name, changes := range map[string]<-chan struct{}{"a": changesOfA, "b": changesOfB} {
			select {
			case <-changes:
			default:
				t.Errorf("%s was told of no change", name)
			}
		}
	})
}

// TestALeaseThatChangedIsReleased: a renewal was under way at the exit, and its answer
// never came; or another program has touched the Lease.
func TestALeaseThatChangedIsReleased(t *testing.T) {
	for holder, want := range map[string]string{"a": "", "b": "b"} {
		t.Run(holder+" holds it", func(t *testing.T) {
			inBubble(t, func(r *race) {
				a := r.add("a")
				r.hold(holder, 30, time.Now())
				a.stop()
				synctest.Wait()
				if spec := r.spec(); *spec.HolderIdentity != want {
					r.Errorf("%q holds the Lease, want %q", *spec.HolderIdentity, want)
				}
			})
		})
	}
}

// Who cannot reach the API server stops leading before others may take over,
// whether requests fail or hang.
func TestOnlyOneLeadsWhenTheLeaderIsCutOff(t *testing.T) {
	for name, cut := range map[string]func(*http.Request) error{"away": away, "hangs": hangs} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(r *race) {
				a := r.add("a")
				r.add("b")
				r.wantOrder(r.pass(10*time.Second), "a")
				a.cut.Store(&cut)
				terms := r.pass(2 * time.Minute)
				r.wantOrder(terms, "a", "", "b")
				r.wantBetween("giving up", terms[0].took, ttl/4, ttl/2)
				r.wantBetween("the gap", terms[1].took, ttl/2, ttl/2+ttl/4+ttl/20+time.Second)
				a.cut.Store(nil)
				r.wantOrder(r.pass(time.Minute), "b")
			})
		})
	}
}

// The term begins when the renewal is sent, however long the answer takes: who
// saw it first may count from then.
func TestASlowAnswerDoesNotMakeTheTermLonger(t *testing.T) {
	inBubble(t, func(r *race) {
		a := r.add("a")
		r.pass(time.Second)
		var sent time.Time
		slow := func(request *http.Request) error {
			if !sent.IsZero() {
				return errors.New("away")
			}
			sent = time.Now()
			time.Sleep(6 * time.Second)
			return nil
		}
		a.cut.Store(&slow)
		r.wantOrder(r.pass(time.Minute), "a", "")
		led := a.leadsUntil().Sub(sent)
		r.wantBetween("the last term", led, ttl/2, ttl/2)
	})
}

func TestNobodyLeadsWhenTheAPIServerIsAwayAndOneDoesAfterwards(t *testing.T) {
	inBubble(t, func(r *race) {
		a, b := r.add("a"), r.add("b")
		down := away
		a.cut.Store(&down)
		b.cut.Store(&down)
		r.wantOrder(r.pass(5*time.Minute), "a", "")
		a.cut.Store(nil)
		b.cut.Store(nil)
		terms := r.pass(2 * time.Minute)
		if last := terms[len(terms)-1]; last.leader == "" || last.took < time.Minute {
			t.Errorf("terms afterwards: %v", terms)
		}
	})
}

// A short absence costs nothing: the renewal is tried again within the term.
func TestLeaderOutlastsAShortAbsence(t *testing.T) {
	inBubble(t, func(r *race) {
		a := r.add("a")
		r.add("b")
		r.pass(7 * time.Second)
		down := away
		a.cut.Store(&down)
		r.wantOrder(r.pass(6*time.Second), "a")
		a.cut.Store(nil)
		r.wantOrder(r.pass(time.Minute), "a")
	})
}

func TestLeaderStopsWhenTheLeaseIsLost(t *testing.T) {
	inBubble(t, func(r *race) {
		r.add("a")
		r.hold("x", 30, time.Now())
		terms := r.pass(36 * time.Second)
		r.wantOrder(terms, "a", "")
		r.wantBetween("seeing it", terms[0].took, 0, ttl/4+time.Second)
		r.wantOrder(r.pass(30 * time.Second)[1:], "a")
	})
}

// That another program writes a label to the Lease is a conflict, and no loss.
func TestLeaderKeepsALeaseThatAnotherTouches(t *testing.T) {
	inBubble(t, func(r *race) {
		r.add("a")
		for range 5 {
			var l coordinationv1.Lease
			r.api.Get(kube.Leases, lease, &l)
			l.Labels = map[string]string{"touched": time.Now().Format("150405")}
			r.api.Put(kube.Leases, &l)
			r.wantOrder(r.pass(10*time.Second), "a")
		}
		var l coordinationv1.Lease
		r.api.Get(kube.Leases, lease, &l)
		if l.Labels["touched"] == "" {
			t.Error("a renewal removed what another wrote")
		}
	})
}

// The times in a Lease are of another clock; what counts is when a renewal was
// first seen, and the duration that its holder wrote.
func TestClocksNeedNotAgree(t *testing.T) {
	for name, skew := range map[string]time.Duration{"ahead": 24 * time.Hour, "behind": -24 * time.Hour, "alike": 0} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(r *race) {
				r.hold("x", 15, time.Now().Add(skew))
				r.add("a")
				terms := r.pass(time.Minute)
				r.wantOrder(terms, "", "a")
				r.wantBetween("waiting", terms[0].took, 15*time.Second, 15*time.Second+ttl/4+ttl/20)
				if n := *r.spec().LeaseTransitions; n != 8 {
					t.Errorf("%d transitions, want 8", n)
				}
			})
		})
	}
}

func TestAReleasedLeaseIsTakenAtOnce(t *testing.T) {
	inBubble(t, func(r *race) {
		r.hold("", 1, time.Now())
		r.add("a")
		if r.leaders() != "a" {
			t.Error("a does not lead")
		}
	})
}

// A pod whose container was started anew has its name still in the Lease.
func TestOwnLeaseIsTakenAtOnce(t *testing.T) {
	inBubble(t, func(r *race) {
		r.hold("a", 30, time.Now())
		r.add("a")
		if r.leaders() != "a" {
			t.Error("a does not lead")
		}
		if n := *r.spec().LeaseTransitions; n != 7 {
			t.Errorf("%d transitions, want 7 as before", n)
		}
	})
}

// Both see that the Lease is free, or missing, and write; one of them is first.
func TestOfTwoWhoAskAtOnceOneLeads(t *testing.T) {
	for name, released := range map[string]bool{"missing": false, "released": true} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(r *race) {
				if released {
					r.hold("", 1, time.Now())
				}
				var writing atomic.Int32
				together := func(request *http.Request) error {
					if request.Method != http.MethodGet && writing.Add(1) <= 2 {
						time.Sleep(time.Second) // both have read by then
					}
					return nil
				}
				for _, name := range []string{"a", "b"} {
					c := r.prepare(name)
					c.cut.Store(&together)
					r.start(c)
				}
				if terms := r.pass(time.Minute); len(terms) > 2 || terms[len(terms)-1].leader == "" {
					t.Errorf("terms: %v", terms)
				}
				if writing.Load() < 2 {
					t.Error("only one wrote, so this shows nothing")
				}
			})
		})
	}
}

// A release that fails leaves a Lease that ends by itself.
func TestExitWithoutTheAPIServer(t *testing.T) {
	inBubble(t, func(r *race) {
		a := r.add("a")
		r.add("b")
		cut := hangs
		a.cut.Store(&cut)
		a.stop()
		terms := r.pass(time.Minute)
		r.wantOrder(terms, "", "b")
		r.wantBetween("the gap", terms[0].took, ttl-ttl/4, ttl+ttl/4+ttl/20+time.Second)
	})
}

func TestErrorsAreSaidOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		api := kubetest.New(t)
		var log strings.Builder
		var forbids atomic.Bool
		forbids.Store(true)
		api.Intrude(func(*http.Request) error {
			if forbids.Load() {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "leases"}, lease.Name, errors.New("no rights"))
			}
			return nil
		})
		e := New(Options{Client: api.Client(), Lease: lease, Identity: "a", Log: slog.New(slog.NewTextHandler(&log, nil))})
		go e.Run(t.Context())
		time.Sleep(5 * time.Minute)
		forbids.Store(false)
		time.Sleep(time.Minute)
		synctest.Wait()
		if strings.Count(log.String(), "no rights") != 1 || strings.Count(log.String(), "mended: election") != 1 || !e.IsLeader() {
			t.Errorf("leads %v; log:\n%s", e.IsLeader(), log.String())
		}
	})
}

func TestFixed(t *testing.T) {
	t.Parallel()
	if !Fixed(true).IsLeader() || Fixed(false).IsLeader() || Fixed(true).Changes() != nil {
		t.Error("what was decided is not what is said")
	}
}
