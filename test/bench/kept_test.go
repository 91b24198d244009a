package bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/test/bench/measure"
)

// endpointsOfEach is the number of endpoints of each Service of BenchmarkKept, at addresses of
// their own.
const endpointsOfEach = 4

// endpointOf is the address of an endpoint: all of loopback leads to the server that answers.
func endpointOf(service, number int) string { return fmt.Sprintf("127.0.%d.%d", service, number+1) }

// BenchmarkKept loads Sluice's nginx and one by hand in turns, over as many Services as hosts.
// The clients ask one host after the other, so that connections to all endpoints are kept.
func BenchmarkKept(b *testing.B) {
	for range b.N {
		ports := answering(b)
		f := newFolder(b)
		f.fillWith(b, trafficHosts, ownEndpoints, ports[0])
		f.put(b, "settings.yaml", fmt.Appendf(nil, settings, "true"))
		s := start(b, f.path, "--configmap", "sluice/sluice")
		h := newByHand(b, 1, ports[0])
		h.head = fmt.Sprintf(fullHead, "access_log off;")
		h.writeOwn(trafficHosts)
		h.start()
		for _, port := range []int{s.HTTP, h.port} {
			measure.AwaitAll(b, port, measure.Host(trafficHosts-1), measure.Served)
		}
		pinTo(0, s.PID(), h.PID())
		ours, byHand := &traffic{pid: s.PID(), to: allHosts(b, s.HTTP)}, &traffic{pid: h.PID(), to: allHosts(b, h.port)}
		for round := range 2 * turns {
			for i := range 2 {
				[]*traffic{ours, byHand}[(round+i)%2].load(b, turn)
			}
		}
		rates, costs := ours.beside(byHand)
		const name = "nginx by hand with an upstream for each Service"
		for _, f := range []measure.Figure{
			{What: "throughput over 100 Services", Unit: "x", Samples: rates, Beside: name},
			{What: "CPU per request over 100 Services", Unit: "x", Samples: costs, Beside: name},
			{What: "CPU per request over 100 Services", Unit: "us", Samples: ours.cost, Baseline: measure.Median(byHand.cost), Beside: name},
		} {
			f.Work = "log off"
			f.Report(b)
		}
	}
}

func ownEndpoints(i int, ports ...int) []byte {
	own := measure.Slice{Port: ports[0]}
	for e := range endpointsOfEach {
		own.Addresses = append(own.Addresses, endpointOf(i, e))
	}
	return measure.Unit(i, own)
}

// writeOwn writes the file for n hosts, each with an upstream of its own.
func (h *byHand) writeOwn(n int) {
	h.b.Helper()
	var out bytes.Buffer
	h.begin(&out, n)
	h.upstream(&out)
	for i := range n {
		fmt.Fprintf(&out, "upstream backends_%d {\n", i)
		for e := range endpointsOfEach {
			fmt.Fprintf(&out, "\tserver %s:%d;\n", endpointOf(i, e), h.ports[0])
		}
		out.WriteString("\tkeepalive 320;\n\tkeepalive_requests 10000;\n}\n")
		var server bytes.Buffer
		h.server(&server, i)
		out.WriteString(strings.ReplaceAll(server.String(), "http://backends;", fmt.Sprintf("http://backends_%d;", i)))
	}
	out.WriteString("}\n")
	if err := os.WriteFile(h.conf(), out.Bytes(), 0o644); err != nil {
		h.b.Fatal(err)
	}
}

// rotating has wrk ask one host after the other.
const rotating = `local requests, at = {}, 0
function init()
  for i = 0, %d do requests[i + 1] = wrk.format("GET", "/api/x", { Host = "shop-" .. i .. ".example.com" }) end
end
function request()
  at = at %% #requests + 1
  return requests[at]
end
`

// allHosts is every host in turn.
func allHosts(b *testing.B, port int) target {
	b.Helper()
	to := plainTarget(port)
	if clientName() != "wrk" {
		b.Skip("only wrk asks one host after the other")
	}
	to.script = filepath.Join(b.TempDir(), "hosts.lua")
	if err := os.WriteFile(to.script, fmt.Appendf(nil, rotating, trafficHosts-1), 0o644); err != nil {
		b.Fatal(err)
	}
	return to
}
