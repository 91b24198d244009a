package resolver_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"

	"sluice/internal/model"
	"sluice/internal/resolver"
)

// newDeadZone answers no question for a name with "dead" in it, and none of type AAAA. It
// is for bubbles of synctest.
func newDeadZone() *zone {
	z := emptyZone()
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

// resolvesAfter returns how long it takes until the first backend has an address.
func resolvesAfter(t *testing.T, r *resolver.Resolver, d model.Dynamic) time.Duration {
	t.Helper()
	began := time.Now()
	awaitAddresses(t, r, d, "192.0.2.1")
	return time.Since(began)
}

// TestDeadNamesDelayNobody: names that DNS never answers delay no name of another
// namespace, and one of their own namespace only until each was asked for once.
func TestDeadNamesDelayNobody(t *testing.T) {
	t.Parallel()
	const asked = 3 * 2 * time.Second // 48 names, 16 at a time, until each question ends
	for namespace, want := range map[string]time.Duration{"b": 0, "a": asked - 500*time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			r, dead := newDeadZone().inMemory(t, ""), inNamespace("a", deadNames(48)...)
			r.Use(dead)
			time.Sleep(500 * time.Millisecond) // all slots of the namespace are taken
			if took := resolvesAfter(t, r, join(inNamespace(namespace, "db.example."), dead)); took != want {
				t.Errorf("namespace %s: the addresses came after %s, want %s", namespace, took, want)
			}
		})
	}
}

// TestNamesThatFailedComeAfterNewOnes, also of their own namespace.
func TestNamesThatFailedComeAfterNewOnes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, dead := newDeadZone().inMemory(t, ""), inNamespace("a", deadNames(16)...)
		r.Use(dead)
		time.Sleep(6 * time.Second) // the names are asked for again
		if took := resolvesAfter(t, r, join(inNamespace("a", "db.example."), dead)); took != 0 {
			t.Errorf("the addresses came after %s", took)
		}
	})
}

// TestOneFamilyIsEnough: no answer for AAAA comes, in any search domain.
func TestOneFamilyIsEnough(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newDeadZone().inMemory(t, "search a.example b.example c.example\noptions ndots:5")
		if took := resolvesAfter(t, r, external("db.example")); took != 0 {
			t.Errorf("the addresses came after %s", took)
		}
	})
}

// TestNewNamesAreWaitedForOnce: until their first answer, and no longer than a second. A
// namespace with a name that DNS does not answer is not waited for again.
func TestNewNamesAreWaitedForOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newDeadZone().inMemory(t, "")
		wait := func(all ...model.Dynamic) time.Duration {
			r.Use(join(all...))
			_, wait := r.Unanswered()
			return wait
		}
		db, dead := inNamespace("b", "db.example."), inNamespace("a", "dead.example.")
		if names, wait := r.Unanswered(); len(names) != 0 || wait != 0 {
			t.Errorf("without names: %v, %s", names, wait)
		}
		if got := wait(db); got != time.Second {
			t.Errorf("at first: %s", got)
		}
		time.Sleep(time.Nanosecond)
		if got := wait(db); got != 0 {
			t.Errorf("with an answer: %s", got)
		}
		if got := wait(db, dead); got != time.Second {
			t.Errorf("of a name that is not answered, at first: %s", got)
		}
		time.Sleep(time.Second)
		if got := wait(db, dead); got != 0 {
			t.Errorf("of a name that is not answered, after a second: %s", got)
		}
		if names, _ := r.Unanswered(); !names["dead.example."] {
			t.Errorf("unanswered are %v, although the question has not ended", names)
		}
		more := inNamespace("a", "more.example.", "dead-2.example.")
		if got := wait(db, dead, more); got != 0 {
			t.Errorf("names of a namespace with one that is not answered: %s", got)
		}
		if got := wait(db, dead, more, inNamespace("b", "another.example.")); got != time.Second {
			t.Errorf("a name of another namespace is waited for for %s", got)
		}
		time.Sleep(time.Second + 1)
		if names, _ := r.Unanswered(); names["dead.example."] {
			t.Error("the first question has not ended")
		}
	})
}
