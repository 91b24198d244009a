package resolver_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"sluice/internal/model"
	"sluice/internal/resolver"
)

// newDeadZone answers no question for a name with "dead" in it, and none of type AAAA.
func newDeadZone(t *testing.T) *zone {
	z := newZone(t)
	z.dropped = func(q dns.Question) bool { return strings.Contains(q.Name, "dead") || q.Qtype == dns.TypeAAAA }
	z.set("db.example.", "60 A 192.0.2.1")
	return z
}

// inNamespace gives backends of a namespace for names.
func inNamespace(namespace string, names ...string) model.Dynamic {
	d := external(names...)
	for _, b := range d.Backends {
		b.Target.Namespace = namespace
	}
	return d
}

func join(all ...model.Dynamic) (d model.Dynamic) {
	for _, one := range all {
		d.Backends = append(d.Backends, one.Backends...)
	}
	return d
}

func deadNames(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("dead-%d.example.", i))
	}
	return names
}

// resolvesWithin fails the test if the first backend has no address after a while.
func resolvesWithin(t *testing.T, r *resolver.Resolver, d model.Dynamic, limit time.Duration) {
	t.Helper()
	began := time.Now()
	awaitAddresses(t, r, d, "192.0.2.1")
	if took := time.Since(began); took > limit {
		t.Errorf("the addresses came after %s, want %s at most", took, limit)
	}
}

// TestDeadNamesDelayNobody: names that DNS never answers delay no name of another
// namespace, and one of their own namespace only for a while.
func TestDeadNamesDelayNobody(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		namespace string
		limit     time.Duration
	}{"another namespace": {"b", 1400 * time.Millisecond}, "the same namespace": {"a", 8 * time.Second}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, dead := newDeadZone(t).resolver(t, ""), inNamespace("a", deadNames(48)...)
			r.Use(dead)
			time.Sleep(500 * time.Millisecond) // all slots of the namespace are taken
			resolvesWithin(t, r, join(inNamespace(test.namespace, "db.example."), dead), test.limit)
		})
	}
}

// TestNamesThatFailedComeAfterNewOnes, also of their own namespace.
func TestNamesThatFailedComeAfterNewOnes(t *testing.T) {
	t.Parallel()
	r, dead := newDeadZone(t).resolver(t, ""), inNamespace("a", deadNames(16)...)
	r.Use(dead)
	time.Sleep(6 * time.Second) // the names are asked for again
	resolvesWithin(t, r, join(inNamespace("a", "db.example."), dead), 3*time.Second)
}

// TestOneFamilyIsEnough: no answer for AAAA comes, in any search domain.
func TestOneFamilyIsEnough(t *testing.T) {
	t.Parallel()
	r := newDeadZone(t).resolver(t, "search a.example b.example c.example\noptions ndots:5")
	resolvesWithin(t, r, external("db.example"), 1400*time.Millisecond)
}

// TestNewNamesAreWaitedForOnce: until their first answer, and no longer than a second. A
// namespace with a name that DNS does not answer is not waited for again.
func TestNewNamesAreWaitedForOnce(t *testing.T) {
	t.Parallel()
	r := newDeadZone(t).resolver(t, "")
	wait := func(all ...model.Dynamic) time.Duration {
		r.Use(join(all...))
		_, wait := r.Unanswered()
		return wait
	}
	db, dead := inNamespace("b", "db.example."), inNamespace("a", "dead.example.")
	began := time.Now()
	if names, wait := r.Unanswered(); len(names) != 0 || wait != 0 {
		t.Errorf("without names: %v, %s", names, wait)
	}
	if got := wait(db); got <= 0 || got > time.Second {
		t.Errorf("at first: %s", got)
	}
	poll(t, "an answer", func() bool { return wait(db) == 0 })
	if took := time.Since(began); took > 500*time.Millisecond {
		t.Errorf("the wait for an answer took %s", took)
	}
	began = time.Now()
	poll(t, "the end of the wait", func() bool { return wait(db, dead) == 0 })
	if took := time.Since(began); took < 900*time.Millisecond || took > 1500*time.Millisecond {
		t.Errorf("the wait for no answer took %s", took)
	}
	if names, _ := r.Unanswered(); !names["dead.example."] {
		t.Errorf("unanswered are %v, although the question has not ended", names)
	}
	more := inNamespace("a", "more.example.", "dead-2.example.")
	if got := wait(db, dead, more); got != 0 {
		t.Errorf("names of a namespace with one that is not answered: %s", got)
	}
	if got := wait(db, dead, more, inNamespace("b", "another.example.")); got <= 0 {
		t.Error("a name of another namespace is not waited for")
	}
	poll(t, "the failure of the first question", func() bool {
		names, _ := r.Unanswered()
		return !names["dead.example."]
	})
}
