package resolver_test

import (
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"

	"github.com/miekg/dns"

	"sluice/internal/resolver"
)

// failFor has the zone answer one type of record with SERVFAIL; 0 for none.
func (z *zone) failFor(kind uint16) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.failing = kind
}

// TestOneFamilysFailureKeepsItsLastGoodAnswer: while A cannot be asked for, the
// addresses of before stay beside what AAAA says now, and the other way round.
func TestOneFamilysFailureKeepsItsLastGoodAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		z := emptyZone()
		z.set("db.example.", "0 A 192.0.2.1", "0 AAAA 2001:db8::1")
		r, d := z.inMemory(t, "search a.example"), external("db.example")
		awaitAddresses(t, r, d, "192.0.2.1", "2001:db8::1")
		for _, kind := range []uint16{dns.TypeA, dns.TypeAAAA} {
			z.failFor(kind)
			before := z.asks("db.example.")
			poll(t, "a question that failed", func() bool { return z.asks("db.example.") > before+3 })
			awaitAddresses(t, r, d, "192.0.2.1", "2001:db8::1")
			z.failFor(0)
		}
		z.failFor(dns.TypeA)
		z.set("db.example.", "0 A 192.0.2.2", "0 AAAA 2001:db8::2")
		awaitAddresses(t, r, d, "192.0.2.1", "2001:db8::2")
		z.failFor(0)
		awaitAddresses(t, r, d, "192.0.2.2", "2001:db8::2")
		z.set("db.example.", "0 AAAA 2001:db8::2")
		awaitAddresses(t, r, d, "2001:db8::2")
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
