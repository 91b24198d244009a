package resolver_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"sluice/internal/model"
	"sluice/internal/resolver"
)

// deadline bounds every wait of these tests.
const deadline = 2 * time.Minute

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// zone is a DNS server on 127.0.0.1 that tests fill.
type zone struct {
	port string

	mu      sync.Mutex
	records map[string][]string
	broken  bool
	failing uint16
	// dropped says which questions get no answer; nil for none.
	dropped func(dns.Question) bool
	asked   map[string]int
}

func emptyZone() *zone { return &zone{records: map[string][]string{}, asked: map[string]int{}} }

func newZone(t *testing.T) *zone {
	t.Helper()
	z := emptyZone()
	udp, tcp := samePort(t)
	var err error
	_, z.port, err = net.SplitHostPort(udp.LocalAddr().String())
	check(t, err)
	for _, server := range []*dns.Server{{PacketConn: udp, Handler: z}, {Listener: tcp, Handler: z}} {
		started := make(chan struct{})
		server.NotifyStartedFunc = func() { close(started) }
		go func() { _ = server.ActivateAndServe() }()
		<-started
		t.Cleanup(func() { _ = server.Shutdown() })
	}
	return z
}

// samePort listens on a port that is free for UDP and TCP.
func samePort(t *testing.T) (net.PacketConn, net.Listener) {
	t.Helper()
	var failure error
	for range 100 {
		tcp, err := net.Listen("tcp", "127.0.0.1:0")
		check(t, err)
		udp, err := net.ListenPacket("udp", tcp.Addr().String())
		if err == nil {
			return udp, tcp
		}
		failure = err
		_ = tcp.Close()
	}
	t.Fatal(failure)
	return nil, nil
}

// set gives a name its records, such as "60 A 192.0.2.1"; none removes it.
func (z *zone) set(name string, records ...string) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.records[name] = records
	if len(records) == 0 {
		delete(z.records, name)
	}
}

func (z *zone) fail(broken bool) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.broken = broken
}

func (z *zone) asks(name string) int {
	z.mu.Lock()
	defer z.mu.Unlock()
	return z.asked[name]
}

func (z *zone) ServeDNS(w dns.ResponseWriter, query *dns.Msg) {
	answer := z.answer(query)
	if answer == nil {
		return
	}
	if w.LocalAddr().Network() == "udp" {
		answer.Truncate(512)
	}
	_ = w.WriteMsg(answer)
}

// answer returns nil for a query that gets no answer.
func (z *zone) answer(query *dns.Msg) *dns.Msg {
	z.mu.Lock()
	defer z.mu.Unlock()
	question := query.Question[0]
	z.asked[question.Name]++
	if z.dropped != nil && z.dropped(question) {
		return nil
	}
	answer := new(dns.Msg).SetReply(query)
	records, known := z.records[question.Name]
	switch {
	case z.broken, z.failing == question.Qtype:
		answer.Rcode = dns.RcodeServerFailure
	case !known:
		answer.Rcode = dns.RcodeNameError
	}
	for _, text := range records {
		if answer.Rcode == dns.RcodeServerFailure {
			break
		}
		record, err := dns.NewRR(question.Name + " " + text)
		if err != nil {
			panic(err)
		}
		if kind := record.Header().Rrtype; kind == question.Qtype || kind == dns.TypeCNAME {
			answer.Answer = append(answer.Answer, record)
		}
	}
	return answer
}

// dial connects to the zone in memory. Unlike with a socket, the clock of a synctest bubble
// goes on while a question waits for its answer.
func (z *zone) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	go func() {
		connection := &dns.Conn{Conn: server}
		defer connection.Close()
		for {
			query, err := connection.ReadMsg()
			if err != nil {
				return
			}
			if answer := z.answer(query); answer != nil {
				_ = connection.WriteMsg(answer)
			}
		}
	}()
	return client, nil
}

// resolver runs one that asks the zone over sockets, until the test ends.
func (z *zone) resolver(t *testing.T, conf string) *resolver.Resolver {
	t.Helper()
	return running(t, conf, resolver.Options{Port: z.port})
}

// inMemory is resolver without sockets.
func (z *zone) inMemory(t *testing.T, conf string) *resolver.Resolver {
	t.Helper()
	return running(t, conf, resolver.Options{Dial: z.dial})
}

func running(t *testing.T, conf string, o resolver.Options) *resolver.Resolver {
	t.Helper()
	o.Conf, o.Logger = filepath.Join(t.TempDir(), "resolv.conf"), slog.New(slog.DiscardHandler)
	check(t, os.WriteFile(o.Conf, []byte("nameserver 127.0.0.1\n"+conf), 0o600))
	r := resolver.New(o)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.Run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done })
	return r
}

func external(names ...string) model.Dynamic {
	var d model.Dynamic
	for _, name := range names {
		d.Backends = append(d.Backends, &model.Backend{Key: "shop/" + name + "/80", ExternalName: name, ExternalPort: 80, WhenEmpty: 503})
	}
	return d
}

// awaitAddresses fills until the first backend has these addresses.
func awaitAddresses(t *testing.T, r *resolver.Resolver, d model.Dynamic, want ...string) {
	t.Helper()
	end := time.After(deadline)
	for {
		var got []string
		for _, e := range resolver.Fill(d, r.Use(d)).Backends[0].Endpoints {
			got = append(got, e.Address)
		}
		if cmp.Equal(want, got) {
			return
		}
		select {
		case <-r.Watch():
		case <-end:
			t.Fatalf("want the addresses %v within %s, got %v", want, deadline, got)
		}
	}
}

func TestResolver(t *testing.T) {
	t.Parallel()
	var many []string
	var all []string
	for n := range 60 {
		many = append(many, fmt.Sprintf("60 A 198.51.100.%d", n+101))
		all = append(all, fmt.Sprintf("198.51.100.%d", n+101))
	}
	cases := []struct {
		name, conf, ask string
		records         map[string][]string
		want            []string
	}{
		{name: "A without AAAA, sorted", ask: "db.example", want: []string{"192.0.2.1", "192.0.2.2"},
			records: map[string][]string{"db.example.": {"60 A 192.0.2.2", "60 AAAA 2001:db8::1", "60 A 192.0.2.1"}}},
		{name: "through an alias", ask: "alias.example", want: []string{"192.0.2.9"},
			records: map[string][]string{"alias.example.": {"60 CNAME real.example.", "60 A 192.0.2.9"}}},
		{name: "few dots: search domains first", conf: "search a.example b.example\noptions ndots:2", ask: "db.x", want: []string{"192.0.2.4"},
			records: map[string][]string{"db.x.b.example.": {"60 A 192.0.2.4"}, "db.x.": {"60 A 192.0.2.5"}}},
		{name: "enough dots: as it is first", conf: "search a.example\noptions ndots:1", ask: "db.x", want: []string{"192.0.2.5"},
			records: map[string][]string{"db.x.a.example.": {"60 A 192.0.2.4"}, "db.x.": {"60 A 192.0.2.5"}}},
		{name: "a dot at the end: only as it is", conf: "search a.example\noptions ndots:5", ask: "db.x.", want: []string{"192.0.2.5"},
			records: map[string][]string{"db.x.a.example.": {"60 A 192.0.2.4"}, "db.x.": {"60 A 192.0.2.5"}}},
		{name: "refused addresses are left out", ask: "rebind.example", want: []string{"10.0.0.1"},
			records: map[string][]string{"rebind.example.": {"60 A 127.0.0.1", "60 A 169.254.169.254", "60 A 0.0.0.0", "60 AAAA ::1", "60 AAAA fe80::1", "60 AAAA ::ffff:127.0.0.1", "60 AAAA 64:ff9b::7f00:1", "60 AAAA fd00:ec2::254", "60 A 100.100.100.200", "60 A 224.0.0.1", "60 A 10.0.0.1"}}},
		{name: "a long answer comes by TCP", ask: "many.example", want: all,
			records: map[string][]string{"many.example.": many}},
		{name: "an address is its own answer", ask: "203.0.113.7", want: []string{"203.0.113.7"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			z := newZone(t)
			for name, records := range c.records {
				z.set(name, records...)
			}
			awaitAddresses(t, z.resolver(t, c.conf), external(c.ask), c.want...)
		})
	}
}

func TestResolverAsksAgainAndKeepsTheLastGoodAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		z := emptyZone()
		z.set("db.example.", "0 A 192.0.2.1")
		r := z.inMemory(t, "")
		d := external("db.example")
		awaitAddresses(t, r, d, "192.0.2.1")
		z.set("db.example.", "0 A 192.0.2.2")
		awaitAddresses(t, r, d, "192.0.2.2")

		z.fail(true)
		before := z.asks("db.example.")
		poll(t, "a question that failed", func() bool { return z.asks("db.example.") > before+1 })
		awaitAddresses(t, r, d, "192.0.2.2")

		z.fail(false)
		z.set("db.example.")
		awaitAddresses(t, r, d)
	})
}

func TestResolverForgetsNamesOutOfUse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		z := emptyZone()
		z.set("old.example.", "0 A 192.0.2.1")
		z.set("new.example.", "0 A 192.0.2.2")
		r := z.inMemory(t, "")
		awaitAddresses(t, r, external("old.example"), "192.0.2.1")
		awaitAddresses(t, r, external("new.example"), "192.0.2.2")
		// Four more answers for the one take as many seconds; the other may have
		// been on its way when it was forgotten.
		old, used := z.asks("old.example."), z.asks("new.example.")
		poll(t, "more questions for the name in use", func() bool { return z.asks("new.example.") >= used+4 })
		if got := z.asks("old.example."); got > old+2 {
			t.Errorf("want no more questions for a name out of use, got %d", got-old)
		}
	})
}

func poll(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(deadline); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %s", what, deadline)
		}
	}
}

func TestFillLeavesItsArgumentAsItIs(t *testing.T) {
	t.Parallel()
	d := external("db.example", "unknown.example")
	d.Backends = append(d.Backends, &model.Backend{Key: "shop/web/80", Endpoints: []model.Endpoint{{Address: "192.0.2.7", Port: 80}}})
	filled := resolver.Fill(d, resolver.Answers{"db.example": {netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")}})
	var got [][]model.Endpoint
	for _, b := range filled.Backends {
		got = append(got, b.Endpoints)
	}
	want := [][]model.Endpoint{{{Address: "192.0.2.1", Port: 80}, {Address: "2001:db8::1", Port: 80}}, nil, {{Address: "192.0.2.7", Port: 80}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if d.Backends[0].Endpoints != nil || filled.Backends[2] != d.Backends[2] {
		t.Error("want the argument untouched, and the pointer of what is not external")
	}
}
