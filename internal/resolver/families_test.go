package resolver_test

import (
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"

	"sluice/internal/resolver"
)

// failFor has the zone answer one type of record with SERVFAIL; 0 for none.
func (z *zone) failFor(kind uint16) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.failing = kind
}

// TestAAAAOnlyWithoutA: a node may have no IPv6, and nginx would try all addresses. The last good
// answer for A stays while A cannot be asked for.
func TestAAAAOnlyWithoutA(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		z := emptyZone()
		z.set("db.example.", "0 A 192.0.2.1", "0 AAAA 2001:db8::1")
		r, d := z.inMemory(t, "search a.example"), external("db.example")
		awaitAddresses(t, r, d, "192.0.2.1")
		z.failFor(dns.TypeA)
		before := z.asks("db.example.")
		poll(t, "a question that failed", func() bool { return z.asks("db.example.") > before+3 })
		awaitAddresses(t, r, d, "192.0.2.1")
		z.failFor(0)
		z.set("db.example.", "0 AAAA 2001:db8::2")
		awaitAddresses(t, r, d, "2001:db8::2")
		z.failFor(dns.TypeAAAA)
		before = z.asks("db.example.")
		poll(t, "a question that failed", func() bool { return z.asks("db.example.") > before+3 })
		awaitAddresses(t, r, d, "2001:db8::2")
		z.failFor(dns.TypeA)
		z.set("db.example.", "0 AAAA 2001:db8::3")
		awaitAddresses(t, r, d, "2001:db8::3")
		z.failFor(0)
		z.set("db.example.", "0 A 192.0.2.2", "0 AAAA 2001:db8::3")
		awaitAddresses(t, r, d, "192.0.2.2")
	})
}

// TestNoIPv6Names: with disable-ipv6-dns, no IPv6 address is used, and names are asked for again when
// that changes.
func TestNoIPv6Names(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		z := emptyZone()
		z.set("six.example.", "300 AAAA 2001:db8::1")
		z.set("db.example.", "300 A 192.0.2.1", "300 AAAA 2001:db8::1")
		r, six, both := z.inMemory(t, ""), external("six.example"), external("db.example", "six.example")
		began := time.Now()
		awaitAddresses(t, r, six, "2001:db8::1")
		six.IPv4Names, both.IPv4Names = true, true
		awaitAddresses(t, r, six)
		awaitAddresses(t, r, both, "192.0.2.1")
		six.IPv4Names = false
		awaitAddresses(t, r, six, "2001:db8::1")
		if took := time.Since(began); took > time.Second {
			t.Errorf("names are asked for again after %s only", took)
		}
	})
}

// TestFillTakesSoManyAddresses: whoever answers for a name does not decide how
// much of nginx's memory a backend takes.
func TestFillTakesSoManyAddresses(t *testing.T) {
	t.Parallel()
	var many []netip.Addr
	for n := range 4000 {
		many = append(many, netip.MustParseAddr(fmt.Sprintf("10.0.%d.%d", n/250, n%250)))
	}
	if got := len(resolver.Fill(external("db.example"), resolver.Answers{"db.example": many}).Backends[0].Endpoints); got != 64 {
		t.Errorf("%d endpoints", got)
	}
}

// TestFailedAIsAskedAgainSoon: where the question for A fails and no earlier answer is known, the
// addresses of the other family count for a moment only, although their records last longer.
func TestFailedAIsAskedAgainSoon(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		z := emptyZone()
		z.set("db.example.", "3600 A 192.0.2.1", "3600 AAAA 2001:db8::1")
		z.failFor(dns.TypeA)
		r, d := z.inMemory(t, ""), external("db.example")
		began := time.Now()
		awaitAddresses(t, r, d, "2001:db8::1")
		z.failFor(0)
		awaitAddresses(t, r, d, "192.0.2.1")
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("the A record was found after %v, want some 5 s", took)
		}
	})
}
