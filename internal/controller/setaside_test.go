package controller

import (
	"errors"
	"fmt"
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/model"
	"sluice/internal/quarantine"
	"sluice/internal/snapshot"
)

// TestConflictTakesTheNewestOut: each passes alone, and two of them fail together.
func TestConflictTakesTheNewestOut(t *testing.T) {
	t.Parallel()
	for _, names := range []naming{byLine, byWord, silent} {
		source := &objects{}
		for i := range 20 {
			ing := plain(fmt.Sprint("n", i%3), fmt.Sprint("web-", i), fmt.Sprint(i, ".example"), "use-regex", "true")
			ing.CreationTimestamp = metav1.NewTime(time.Unix(int64(i), 0))
			source.Ingresses = append(source.Ingresses, ing)
		}
		c := idle(t, source)
		n := &fake{faults: []fault{{object: objectOf("n1", "web-4"), with: objectOf("n1", "web-13"), names: names}}}
		if names == silent {
			n.faults[0] = fault{object: objectOf("n1", "web-13"), with: objectOf("n0", "web-3"), names: names}
		}
		c.sync(t.Context())
		n.settle(t, c)
		n.check(t, c, objectOf("n1", "web-13"))
		if n.loads > 20 {
			t.Errorf("%s: %d loads, %d small files", names, n.loads, n.apart)
		}
	}
}

// TestOthersAreServedBeforeTheSearchIsOver: 200 hosts, one of which nginx refuses without a
// word. Those with values that only Sluice reads are served after three loads, without a
// single test of theirs.
func TestOthersAreServedBeforeTheSearchIsOver(t *testing.T) {
	t.Parallel()
	source := &objects{}
	for i := range 200 {
		source.Ingresses = append(source.Ingresses, plain(fmt.Sprint("n", i%20), fmt.Sprint("web-", i), fmt.Sprint(i, ".example"), "proxy-read-timeout", "5"))
	}
	source.Ingresses[77].Annotations["nginx.ingress.kubernetes.io/ssl-ciphers"] = "FOO"
	c := idle(t, source)
	n := &fake{faults: []fault{{object: objectOf("n17", "web-77"), behaviour: "ssl-ciphers", names: silent}}}
	c.sync(t.Context())
	for range 2 {
		n.load(t, c, c.submitted())
	}
	if !c.target.confirmed || len(c.latest.config.Static.Servers) != 200 || n.apart > 0 {
		t.Fatalf("%d servers after %d loads and %d small files", len(c.latest.config.Static.Servers), n.loads, n.apart)
	}
	n.settle(t, c)
	n.check(t, c, objectOf("n17", "web-77"))
}

// TestManyBadNamespaces: 6 namespaces of 15 bad Ingresses each beside 5 good ones, and 6
// without any bad one.
func TestManyBadNamespaces(t *testing.T) {
	t.Parallel()
	source, n := &objects{}, &fake{}
	var blamed []model.ObjectRef
	for namespace := range 12 {
		for i := range 20 {
			o := objectOf(fmt.Sprint("n", namespace), fmt.Sprint("web-", i))
			ing := plain(o.Namespace, o.Name, fmt.Sprintf("%d.%d.example", i, namespace), "use-regex", "true")
			ing.CreationTimestamp = metav1.NewTime(time.Unix(int64(i), 0))
			source.Ingresses = append(source.Ingresses, ing)
			if namespace < 6 && i%4 != 0 {
				blamed = append(blamed, o)
				n.faults = append(n.faults, fault{object: o, names: silent})
			}
		}
	}
	c := idle(t, source)
	c.trials.joinAfter = time.Hour // whatever the speed of the machine
	c.sync(t.Context())
	n.settle(t, c)
	n.check(t, c, blamed...)
	if n.loads > 5 || n.apart > 6*60+6 {
		t.Errorf("%d loads, %d small files", n.loads, n.apart)
	}
}

// TestNamespacesOfBadOnesAreFoundSoon: 20 namespaces of 15 Ingresses each whose variables nginx does
// not know. After three small files for each of them, nobody else waits, and the pod is ready.
func TestNamespacesOfBadOnesAreFoundSoon(t *testing.T) {
	t.Parallel()
	const namespaces, each = 20, 15
	source, n := &objects{}, &fake{}
	source.say(allowing())
	for namespace := range namespaces {
		for i := range each {
			o := objectOf(fmt.Sprint("n", namespace), fmt.Sprint("web-", i))
			snippet := fmt.Sprintf("add_header X-A $nothing_%d;", i)
			ing := plain(o.Namespace, o.Name, fmt.Sprintf("%d.%d.example", i, namespace), "configuration-snippet", snippet)
			source.Ingresses = append(source.Ingresses, ing)
			n.faults = append(n.faults, fault{object: o, behaviour: "configuration-snippet", names: byWord})
		}
	}
	c := idle(t, source)
	c.Translate.ConfigMap = config
	c.sync(t.Context())
	for c.submitNamed(); ; c.submitNamed() {
		p := c.submitted()
		if p == nil {
			break
		}
		n.load(t, c, p)
	}
	for c.quarantine.Undecided() > 0 && n.apart < 1_000 {
		next := <-c.trials.due
		next.test(t.Context(), n)
		c.trialEnded(t.Context(), next)
	}
	if n.apart > 3*namespaces || n.loads > 5 {
		t.Errorf("%d loads, %d small files, %d others", n.loads, n.apart, n.tests)
	}
}

// TestAGoodPodTestsNothing: 500 good ones are loaded, and no test is run.
func TestAGoodPodTestsNothing(t *testing.T) {
	t.Parallel()
	source, n := &objects{}, &fake{}
	for i := range 500 {
		source.Ingresses = append(source.Ingresses, plain(fmt.Sprint("n", i%20), fmt.Sprint("web-", i), fmt.Sprint(i, ".example"), "configuration-snippet", "set $x 1;"))
	}
	source.say(allowing())
	c := idle(t, source)
	c.Translate.ConfigMap = config
	c.sync(t.Context())
	n.settle(t, c)
	n.check(t, c)
	if n.loads != 1 || n.tests+n.apart != 0 {
		t.Errorf("%d loads, %d tests", n.loads, n.tests+n.apart)
	}
}

// TestWhatRanIsSuspectedInTheEnd: nginx ran an Ingress, and refuses it after a change of
// something that no object shows, such as a file that is gone. The next change is served.
func TestWhatRanIsSuspectedInTheEnd(t *testing.T) {
	t.Parallel()
	for _, names := range []naming{byLine, byWord, silent} {
		source, n := &objects{}, &fake{}
		source.Ingresses = []*networkingv1.Ingress{plain("a", "old", "old.example", "proxy-read-timeout", "5"), plain("a", "other", "other.example")}
		c := idle(t, source)
		c.sync(t.Context())
		n.settle(t, c)
		n.faults = []fault{{object: objectOf("a", "old"), behaviour: "timeouts", names: names}}
		source.Ingresses = append(source.Ingresses, plain("b", "new", "new.example"))
		c.sync(t.Context())
		n.settle(t, c)
		n.check(t, c, objectOf("a", "old"))
	}
}

// TestTestsThatCannotRunDecideNothing: the machine cannot start nginx any more, at any time of
// a search. Nobody is blamed for that, and in the end the bad one is found.
func TestTestsThatCannotRunDecideNothing(t *testing.T) {
	t.Parallel()
	for at := range 6 {
		source := &objects{}
		source.Ingresses = []*networkingv1.Ingress{plain("a", "bad", "bad.example", "use-regex", "true"), plain("a", "good", "good.example", "use-regex", "true")}
		c := idle(t, source)
		n := &fake{faults: []fault{{object: objectOf("a", "bad"), names: silent}}, broken: errors.New("cannot allocate memory"), at: at}
		c.sync(t.Context())
		n.settle(t, c)
		if r := c.quarantine.Of(quarantine.Of(objectOf("a", "good"))); r != nil && !r.Waits {
			t.Errorf("broken from test %d on: %v", at, r.Text)
		}
	}
}

// TestChangesOfAStruckNamespaceWait: after a refusal in a namespace, its new forms wait
// for a separate test, and their last good forms are served. Other namespaces and
// unchanged forms do not wait.
func TestChangesOfAStruckNamespaceWait(t *testing.T) {
	t.Parallel()
	source := &objects{}
	source.Ingresses = []*networkingv1.Ingress{form("web", "old"), form("same", "same"), form("bad", "bad")}
	c := idle(t, source)
	c.sync(t.Context())
	c.applied(t.Context(), outcome{plan: c.submitted()})
	c.quarantined(t, snapshot.Name{Namespace: "shop", Name: "bad"}, "refused")
	c.trials.free = 0 // nobody tests
	elsewhere := form("web", "new")
	elsewhere.Namespace = "elsewhere"
	source.Ingresses = []*networkingv1.Ingress{form("web", "new"), form("same", "same"), form("bad", "bad"), elsewhere, form("fresh", "fresh")}
	c.sync(t.Context())
	for name, want := range map[string]bool{"web": true, "same": false, "fresh": true} {
		if r := c.quarantine.Of(quarantine.Of(refOf(snapshot.Name{Namespace: "shop", Name: name}))); (r != nil && r.Waits) != want {
			t.Errorf("%s is held: %v, want %v", name, r != nil, want)
		}
	}
	if got := c.latest.served.Ingress(web).Spec.Rules[0].Host; got != "old" || c.latest.served.Ingress(snapshot.Name{Namespace: "elsewhere", Name: "web"}) == nil {
		t.Errorf("served is %s; held is another namespace's, too", got)
	}
}

// TestReadyWhenTheBlamelessAreDecided: for the first time, a pod becomes ready when no Ingress
// waits but those of namespaces with a refusal, or 10 seconds after the first refusal. Once
// ready it stays so.
func TestReadyWhenTheBlamelessAreDecided(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} {
		source := &objects{}
		source.Ingresses = []*networkingv1.Ingress{form("web", "a.example"), form("bad", "b.example")}
		c := idle(t, source)
		c.trials.free = 0 // nobody tests
		c.sync(t.Context())
		c.ready.Store(true)
		c.first.refused()
		if late {
			past := time.Now().Add(-time.Second)
			c.first.until.Store(&past)
		}
		wait := func(undecided bool) {
			f, _ := c.latest.finding(culprit{object: refOf(web), undecided: undecided}, c.good)
			c.quarantine.Refuse(c.latest.turn, f)
			c.noteIdleness()
		}
		wait(true)
		if ready := c.Ready() == nil; ready != late {
			t.Fatalf("10 seconds are over: %v; it is ready: %v", late, ready)
		}
		c.quarantined(t, snapshot.Name{Namespace: "shop", Name: "bad"}, "refused")
		if c.noteIdleness(); c.Ready() != nil {
			t.Error("not ready, though only Ingresses of a namespace with a refusal wait")
		}
		c.quarantine = quarantine.New(harmless, time.Now)
		if wait(true); c.Ready() != nil {
			t.Error("it was ready, and is not any more")
		}
	}
}

// TestNoTrialWithSettingsThatNginxDidNotTake: a verdict would be about the settings.
func TestNoTrialWithSettingsThatNginxDidNotTake(t *testing.T) {
	t.Parallel()
	c, source := guarded(t, settingsOf("HIGH"), nil)
	source.Ingresses = []*networkingv1.Ingress{plain("a", "web", "a.example", "use-regex", "true")}
	c.sync(t.Context())
	c.applied(t.Context(), outcome{plan: c.submitted()})
	f, _ := c.latest.finding(culprit{object: objectOf("a", "web"), undecided: true}, c.good)
	c.quarantine.Refuse(c.latest.turn, f)
	source.say(settingsOf("LOW"))
	c.sync(t.Context())
	if len(c.trials.due) > 0 {
		t.Error("it is tested with the new settings")
	}
	c.applied(t.Context(), outcome{plan: c.submitted()})
	if len(c.trials.due) != 1 {
		t.Error("it is not tested when nginx runs with the new settings")
	}
}

// TestWaitingWithoutARefusalEnds: Ingresses that wait since a former process, which saw the refusal,
// keep a pod from becoming ready for 10 seconds at most too.
func TestWaitingWithoutARefusalEnds(t *testing.T) {
	t.Parallel()
	source := &objects{}
	source.Ingresses = []*networkingv1.Ingress{form("web", "a.example")}
	c := idle(t, source)
	c.trials.free = 0 // nobody tests
	c.sync(t.Context())
	f, _ := c.latest.finding(culprit{object: refOf(web), undecided: true}, c.good)
	c.quarantine.Refuse(c.latest.turn, f)
	c.noteIdleness()
	if now := time.Now(); c.first.ready(now) == nil || c.first.ready(now.Add(longestFirst+time.Second)) != nil {
		t.Error("want it to be ready when 10 seconds are over, and not before")
	}
}
