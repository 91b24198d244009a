package bench

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/test/bench/measure"
)

// What a request may cost beside one to an nginx by hand with the same behaviour.
const (
	nativeRatio = 1.1  // directives of nginx do it
	luaRatio    = 1.25 // our Lua does
)

const (
	// behaviourTurn is how long one of the four is loaded before it is another's turn.
	behaviourTurn = time.Second
	// behaviourTurns is how many each has.
	behaviourTurns = 3
)

// behaviour is a host of Sluice with annotations, beside one by hand that does the same.
type behaviour struct {
	name string
	// lua is set if our Lua takes part, besides the choice of an endpoint in turn.
	lua bool
	// annotations are "key: value". A key without a prefix is one of ingress-nginx.
	annotations []string
	// path is that of the rule, "/" of type Prefix if it is empty.
	path string
	// more are further objects.
	more string
	// http and location are what a person writes at these levels, server what stands
	// beside the location. A location without a "_pass" passes to the usual upstream.
	http, server, location string
	// headers are sent with each request; a cookie of the first answer too.
	headers []string
	cookie  bool
	// service is "web" if it is empty.
	service string
	// of is the object of the behaviour whose host a canary shares.
	of string
	// certificate is set if clients need one.
	certificate bool
}

// object is the name of the behaviour as one of an object.
func (c behaviour) object() string {
	return strings.ToLower(strings.NewReplacer(" ", "-", "_", "-").Replace(c.name))
}

func (c behaviour) host() string { return c.object() + domain }

const domain = ".bench.example"

// BenchmarkBehaviours tells what a request costs with a behaviour: beside a request to a
// host without it, and beside nginx by hand with it. The four take turns.
func BenchmarkBehaviours(b *testing.B) {
	for range b.N {
		behaviours(b)
	}
}

func behaviours(b *testing.B) {
	b.Helper()
	to := behaviourBackends(b)
	s, hand := behaviourSluice(b, to), behaviourHand(b, to)
	pinTo(0, s.PID(), hand.PID())
	var rows []costRow
	for _, c := range to.behaviours() {
		b.Run(strings.ReplaceAll(c.name, " ", "-"), func(b *testing.B) {
			rows = append(rows, c.measure(b, s, hand, to))
		})
	}
	fmt.Fprint(os.Stdout, markdown(rows))
}

// costRow is what the requests of a behaviour cost: to Sluice without it and with it, by
// hand without it and with it.
type costRow struct {
	behaviour                       behaviour
	plain, with, handPlain, handHas *traffic
}

func (c behaviour) measure(b *testing.B, s *sluice, hand *byHand, to *behaviourPorts) costRow {
	b.Helper()
	of := func(pid, port, tlsPort int, host string, headers []string) *traffic {
		t := &traffic{pid: pid, to: target{port: port, host: host, headers: headers}}
		if c.certificate {
			t.to.port, t.to.tls = tlsPort, to.client(host)
		}
		return t
	}
	r := costRow{behaviour: c,
		plain:     of(s.PID(), s.HTTP, s.HTTPS, plainBehaviour.host(), nil),
		with:      of(s.PID(), s.HTTP, s.HTTPS, c.host(), c.headers),
		handPlain: of(hand.PID(), hand.port, to.handTLS, plainBehaviour.host(), nil),
		handHas:   of(hand.PID(), hand.port, to.handTLS, c.host(), c.headers),
	}
	if c.cookie {
		r.with.to.headers = append(slices.Clone(c.headers), "Cookie: "+firstCookie(b, r.with.to))
		r.handHas.to.headers = r.with.to.headers
	}
	all := []*traffic{r.plain, r.with, r.handPlain, r.handHas}
	for round := range behaviourTurns {
		for i := range all {
			all[(round+i)%len(all)].load(b, behaviourTurn)
		}
	}
	r.figure().Report(b)
	return r
}

func (r costRow) budget() float64 {
	if r.behaviour.lua {
		return luaRatio
	}
	return nativeRatio
}

func (r costRow) figure() measure.Figure {
	_, costs := r.with.beside(r.handHas)
	return measure.Figure{
		What: "CPU per request, " + r.behaviour.name, Unit: "x", Samples: costs, Budget: r.budget(),
		Beside: "nginx by hand with the same",
	}
}

// markdown is the table of docs/benchmarks.md.
func markdown(rows []costRow) string {
	var out strings.Builder
	out.WriteString("\n| behaviour | µs a request without, with | by hand without, with | with beside by hand | budget | requests a second, by hand |\n|---|---|---|---|---|---|\n")
	for _, r := range rows {
		ratio, edge := r.figure(), ""
		if measure.Median(ratio.Samples) > ratio.Budget {
			edge = "**"
		}
		fmt.Fprintf(&out, "| %s | %.1f, %.1f | %.1f, %.1f | %s%.2f%s | %.2f | %s, %s |\n", r.behaviour.name,
			measure.Median(r.plain.cost), measure.Median(r.with.cost), measure.Median(r.handPlain.cost), measure.Median(r.handHas.cost),
			edge, measure.Median(ratio.Samples), edge, ratio.Budget,
			measure.Thousands(int(measure.Median(r.with.rate))), measure.Thousands(int(measure.Median(r.handHas.rate))))
	}
	return out.String()
}
