package controller

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/manifest/decode"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

func keys(d model.Dynamic) []string {
	var found []string
	for _, b := range d.Backends {
		found = append(found, b.Key)
	}
	for _, c := range d.Certificates {
		found = append(found, c.ID)
	}
	for _, n := range d.Names {
		found = append(found, n.Host+"="+n.ID)
	}
	for _, f := range d.Users {
		found = append(found, f.ID)
	}
	return found
}

func backends(keys ...string) model.Dynamic {
	var d model.Dynamic
	for _, key := range keys {
		d.Backends = append(d.Backends, &model.Backend{Key: key})
	}
	return d
}

func TestRetiredItemsAreKeptWhileWorkersDrain(t *testing.T) {
	t.Parallel()
	start := time.Unix(1000, 0)
	var l retired
	steps := []struct {
		before, now model.Dynamic
		at          time.Time
	}{
		{backends(), backends("a", "b", "c"), start},
		{backends("a", "b", "c"), backends("b"), start.Add(time.Minute)},
		{backends("b"), backends("d"), start.Add(2 * time.Minute)},
	}
	for i, step := range steps {
		l.note(step.before, step.now, i)
		l.confirmed(i, step.at, 3*time.Minute)
	}
	for _, c := range []struct {
		after time.Duration
		want  []string
	}{{2 * time.Minute, []string{"a", "b", "c", "d"}}, {4 * time.Minute, []string{"b", "d"}}, {time.Hour, []string{"d"}}} {
		kept := l.with(backends("d"), start.Add(c.after))
		if diff := cmp.Diff(c.want, keys(kept)); diff != "" {
			t.Errorf("after %s kept (-want +got):\n%s", c.after, diff)
		}
	}
	if at, ok := l.due(); ok {
		t.Errorf("something is left to be dropped at %s", at)
	}
}

// TestItemsOfTheRunningFileAreKept: a file without a backend was not accepted for an
// hour; the running file still needs it.
func TestItemsOfTheRunningFileAreKept(t *testing.T) {
	t.Parallel()
	start := time.Unix(1000, 0)
	var l retired
	l.note(backends("a", "b"), backends("b"), 1)
	if _, ok := l.due(); ok {
		t.Error("something is to be dropped before the file is confirmed")
	}
	if diff := cmp.Diff([]string{"a", "b"}, keys(l.with(backends("b"), start.Add(time.Hour)))); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	l.confirmed(1, start.Add(time.Hour), time.Minute)
	if diff := cmp.Diff([]string{"a", "b"}, keys(l.with(backends("b"), start.Add(time.Hour)))); diff != "" {
		t.Errorf("kept while workers drain (-want +got):\n%s", diff)
	}
}

func TestItemThatCameBackIsCurrent(t *testing.T) {
	t.Parallel()
	names := func(host, id string) model.Dynamic {
		return model.Dynamic{Names: []model.CertificateName{{Host: host, ID: id}}, Certificates: []*model.Certificate{{ID: id}}}
	}
	var l retired
	l.note(names("a", "old"), model.Dynamic{}, 1)
	start := time.Unix(1000, 0)
	l.confirmed(1, start, time.Hour)
	kept := l.with(names("a", "new"), start)
	if diff := cmp.Diff([]string{"new", "old", "a=new"}, keys(kept)); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	if at, _ := l.due(); !at.Equal(start.Add(handshakes)) {
		t.Errorf("the certificate is due at %s, want %s", at, start.Add(handshakes))
	}
	kept = l.with(names("a", "new"), start.Add(handshakes))
	if diff := cmp.Diff([]string{"new", "a=new"}, keys(kept)); diff != "" {
		t.Errorf("kept when no handshake is left (-want +got):\n%s", diff)
	}
}

// TestNamesEndWithTheSwitch: whoever has a host from then on is not served with the certificate
// of who had it before. The certificate stays for handshakes that have begun.
func TestNamesEndWithTheSwitch(t *testing.T) {
	t.Parallel()
	had := model.Dynamic{Names: []model.CertificateName{{Host: "a", ID: "old"}, {Host: "b", ID: "old"}}, Certificates: []*model.Certificate{{ID: "old"}}}
	var l retired
	start := time.Unix(1000, 0)
	l.note(had, model.Dynamic{Names: had.Names[1:], Certificates: had.Certificates}, 1)
	l.note(model.Dynamic{Names: had.Names[1:], Certificates: had.Certificates}, model.Dynamic{}, 2)
	if diff := cmp.Diff([]string{"old", "a=old", "b=old"}, keys(l.with(model.Dynamic{}, start))); diff != "" {
		t.Errorf("kept before the switch (-want +got):\n%s", diff)
	}
	l.confirmed(1, start, time.Hour)
	if diff := cmp.Diff([]string{"old", "b=old"}, keys(l.with(model.Dynamic{}, start))); diff != "" {
		t.Errorf("kept after the first switch (-want +got):\n%s", diff)
	}
	l.confirmed(2, start, time.Hour)
	if diff := cmp.Diff([]string{"old"}, keys(l.with(model.Dynamic{}, start))); diff != "" {
		t.Errorf("kept after the second switch (-want +got):\n%s", diff)
	}
}

// TestAConfirmedPlanFreesAllBeforeIt: changes are faster than reloads, so that the
// confirmed plan is never the newest.
func TestAConfirmedPlanFreesAllBeforeIt(t *testing.T) {
	t.Parallel()
	start := time.Unix(1000, 0)
	key := func(i int) string { return fmt.Sprintf("b%04d", i) }
	var l retired
	for i := range 655 {
		l.note(backends(key(i)), backends(key(i+1)), i)
		if i > 0 {
			l.confirmed(i-1, start, time.Minute)
		}
	}
	if diff := cmp.Diff([]string{key(654), key(655)}, keys(l.with(backends(key(655)), start.Add(time.Minute)))); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}

// TestItemThatLeavesTwiceIsKept: it came back, and left again with a plan that nginx
// does not run yet.
func TestItemThatLeavesTwiceIsKept(t *testing.T) {
	t.Parallel()
	start := time.Unix(1000, 0)
	var l retired
	l.note(backends("a", "b"), backends("b"), 1)
	l.confirmed(1, start, time.Minute)
	l.note(backends("b"), backends("a", "b"), 2)
	l.confirmed(2, start.Add(time.Second), time.Minute)
	l.note(backends("a", "b"), backends("b"), 3)
	if diff := cmp.Diff([]string{"a", "b"}, keys(l.with(backends("b"), start.Add(time.Hour)))); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}

// TestItemsThatLeaveTogetherAreRemovedAtOnce counts the removals after 100 plans within
// 5 s.
func TestItemsThatLeaveTogetherAreRemovedAtOnce(t *testing.T) {
	t.Parallel()
	if drops := churn(t, 200); drops > 4 {
		t.Errorf("dropped %d times", drops)
	}
}

func BenchmarkRetired(b *testing.B) {
	for b.Loop() {
		churn(b, 10_000)
	}
}

// churn retires a name and a backend with each of 100 plans, and returns the number of
// removals.
func churn(t testing.TB, n int) (drops int) {
	t.Helper()
	state := func(left int) model.Dynamic {
		var d model.Dynamic
		for i := left; i < n; i++ {
			key := fmt.Sprintf("%05d", i)
			d.Backends = append(d.Backends, &model.Backend{Key: key})
			d.Names = append(d.Names, model.CertificateName{Host: key, ID: "id"})
		}
		return d
	}
	var l retired
	now := time.Unix(1000, 0)
	wanted := state(0)
	for i := range 100 {
		now = now.Add(50 * time.Millisecond)
		next := model.Dynamic{Backends: wanted.Backends[1:], Names: wanted.Names[1:]}
		l.note(wanted, next, i)
		l.confirmed(i, now, time.Minute)
		wanted = next
	}
	for at, ok := l.due(); ok; at, ok = l.due() {
		drops++
		l.with(wanted, at)
	}
	return drops
}

// A draining worker still reads its user file at each request.
func TestUsersStayWhileWorkersDrain(t *testing.T) {
	t.Parallel()
	start := time.Unix(1000, 0)
	users := func(ids ...string) (d model.Dynamic) {
		for _, id := range ids {
			d.Users = append(d.Users, &model.UserFile{ID: id})
		}
		return d
	}
	var l retired
	l.note(users("a", "b"), users("b"), 1)
	for _, step := range []struct {
		confirmed bool
		after     time.Duration
		want      []string
	}{{false, time.Hour, []string{"a", "b"}}, {true, time.Minute, []string{"a", "b"}}, {true, 10 * time.Minute, []string{"b"}}} {
		if step.confirmed {
			l.confirmed(1, start, 3*time.Minute)
		}
		if diff := cmp.Diff(step.want, keys(l.with(users("b"), start.Add(step.after)))); diff != "" {
			t.Errorf("after %s kept (-want +got):\n%s", step.after, diff)
		}
	}
}

// TestRetiredBackendsFollowTheirEndpoints until a plan without them is confirmed, also
// during a reload: nginx still uses them.
func TestRetiredBackendsFollowTheirEndpoints(t *testing.T) {
	t.Parallel()
	load := func(objects ...string) (all snapshot.Objects) {
		for _, text := range objects {
			parsed, _, err := decode.FromYAML("test.yaml", []byte(object(t, text)))
			if err != nil {
				t.Fatal(err)
			}
			all.Append(parsed)
		}
		return all
	}
	source := &objects{load("ingress a web", "service web", "slice web 10.0.0.1", "service other", "slice other 10.0.0.2")}
	c := idle(t, source)
	c.Translate.ManifestMode, c.Translate.IngressClasses = true, []string{"nginx"}
	c.sync(t.Context())
	first := c.submitted()
	c.applied(t.Context(), outcome{plan: first})
	endpoints := func() string {
		for _, b := range c.retired.with(c.wanted, time.Now()).Backends {
			if b.Key == "default/web/80" {
				return fmt.Sprint(b.Endpoints)
			}
		}
		return "none"
	}
	step := func(want string, objects ...string) {
		t.Helper()
		source.Objects = load(append(objects, "service other", "slice other 10.0.0.2")...)
		c.syncOrWait(t.Context())
		if got := endpoints(); got != want {
			t.Errorf("web has the endpoints %s, want %s", got, want)
		}
	}
	step("[{10.0.0.1 8080}]", "ingress a other", "service web", "slice web 10.0.0.1")
	step("[{10.0.0.3 8080}]", "ingress a other", "service web", "slice web 10.0.0.3")
	step("[]", "ingress a other", "service web")
	c.applier.busy.Store(true)
	step("[{10.0.0.4 8080}]", "ingress a other", "service web", "slice web 10.0.0.4")
	step("[{10.0.0.4 8080}]", "ingress a other")
	c.applier.busy.Store(false)
	c.applied(t.Context(), outcome{plan: c.submitted()})
	step("[{10.0.0.4 8080}]", "ingress a other", "service web", "slice web 10.0.0.5")
}

// TestRetiredBackendsStayForTheDrainTimeOfTheirWorkers: a plan that lowers
// worker-shutdown-timeout does not shorten the time of the workers before it, nor does the
// plan after it.
func TestRetiredBackendsStayForTheDrainTimeOfTheirWorkers(t *testing.T) {
	t.Parallel()
	source := &objects{}
	c := idle(t, source)
	c.Translate.ConfigMap = snapshot.Name{Namespace: "sluice", Name: "config"}
	step := func(drain, service string) {
		t.Helper()
		ing := form("web", "web.example")
		ing.Spec.Rules[0].HTTP = servedBy(service)
		source.Ingresses = []*networkingv1.Ingress{ing}
		source.ConfigMaps = []*corev1.ConfigMap{{ObjectMeta: metav1.ObjectMeta{Namespace: "sluice", Name: "config"}, Data: map[string]string{"worker-shutdown-timeout": drain}}}
		c.sync(t.Context())
		c.applied(t.Context(), outcome{plan: c.submitted()})
	}
	step("100s", "first")
	c.retired.drained = time.Time{} // a long time passes
	step("1s", "second")
	step("1s", "third")
	for after, want := range map[time.Duration][]string{
		90 * time.Second:  {"shop/first/80", "shop/second/80", "shop/third/80"},
		110 * time.Second: {"shop/third/80"},
	} {
		l := c.retired
		l.backends = maps.Clone(l.backends)
		if diff := cmp.Diff(want, keys(model.Dynamic{Backends: l.with(c.wanted, time.Now().Add(after)).Backends})); diff != "" {
			t.Errorf("after %s kept (-want +got):\n%s", after, diff)
		}
	}
}
