package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"sluice/test/bench/measure"
	"sluice/test/kit"
)

// What a request may cost beside nginx by hand: at least so much of its
// throughput, at most so many times its processor time.
const (
	throughputRatio = 0.95
	cpuRatio        = 1.2
)

const (
	// trafficHosts is the number of hosts while traffic is measured.
	trafficHosts = 100
	// turn is how long each of the two is loaded before it is the other's turn.
	turn = 3 * time.Second
	// turns is how many each has.
	turns = 7
)

// settings ask for one worker, so that one processor is left for the clients
// and the backends.
const settings = `apiVersion: v1
kind: ConfigMap
metadata: {name: sluice, namespace: sluice}
data:
  worker-processes: "1"
  disable-access-log: "%s"
`

// bareHead is the least that a person would write at the http level: the
// headers that say who asks, the log, the buffering.
const bareHead = `%s
proxy_set_header Host $http_host;
proxy_set_header Connection "";
proxy_set_header X-Request-ID $request_id;
` + commonHead

// fullHead is what a person would write for what an ingress controller does
// unasked: WebSockets pass, a request keeps the id it came with, and HTTPS
// answers with Strict-Transport-Security.
// Source: https://nginx.org/en/docs/http/websocket.html
const fullHead = `%s
map $http_upgrade $connection_upgrade { default upgrade; "" ""; }
map $http_x_request_id $req_id { default $http_x_request_id; "" $request_id; }
map $scheme $hsts { default $upstream_http_strict_transport_security; https "max-age=31536000; includeSubDomains"; }
proxy_hide_header Strict-Transport-Security;
add_header Strict-Transport-Security $hsts always;
proxy_set_header Host $http_host;
proxy_set_header Upgrade $http_upgrade;
proxy_set_header Connection $connection_upgrade;
proxy_set_header X-Request-ID $req_id;
` + commonHead

const commonHead = `proxy_set_header X-Real-IP $remote_addr;
proxy_set_header X-Forwarded-For $remote_addr;
proxy_set_header X-Forwarded-Host $http_host;
proxy_set_header X-Forwarded-Port $server_port;
proxy_set_header X-Forwarded-Proto $scheme;
proxy_set_header X-Forwarded-Scheme $scheme;
proxy_set_header X-Scheme $scheme;
proxy_buffering off;
`

const logged = `log_format same '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" $request_length $request_time [shop] [] $upstream_addr $upstream_response_length $upstream_response_time $upstream_status $request_id';
access_log %s same;`

// BenchmarkThroughput loads Sluice's nginx and two by hand in turns, with one
// worker, the same keep-alive and the same two backends.
func BenchmarkThroughput(b *testing.B) {
	for name, disable := range map[string]string{"WithoutAccessLog": "true", "WithAccessLog": "false"} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				throughput(b, disable)
			}
		})
	}
}

func throughput(b *testing.B, disable string) {
	b.Helper()
	ports := answering(b)
	s := loadedSluice(b, disable, ports)
	full, bare := loadedByHand(b, fullHead, disable, ports), loadedByHand(b, bareHead, disable, ports)
	pinTo(0, s.PID(), full.PID(), bare.PID())
	all := []*traffic{{pid: s.PID(), to: plainTarget(s.HTTP)}, {pid: full.PID(), to: plainTarget(full.port)}, {pid: bare.PID(), to: plainTarget(bare.port)}}
	for round := range turns {
		for i := range all { // none always comes after the same other
			all[(round+i)%len(all)].load(b, turn)
		}
	}
	ours, work := all[0], "log "+map[string]string{"true": "off", "false": "on"}[disable]
	figures := []measure.Figure{
		{What: "requests a second", Unit: "rps", Samples: ours.rate, Baseline: measure.Median(all[2].rate), Beside: bareName + "; clients: " + clientName()},
		{What: "CPU per request", Unit: "us", Samples: ours.cost, Baseline: measure.Median(all[2].cost), Beside: bareName},
	}
	for i, name := range []string{"nginx by hand that does the same", bareName} {
		figures = append(figures, ours.figuresBeside(name, all[i+1])...)
	}
	for _, f := range figures {
		f.Work = work
		f.Report(b)
	}
}

// trafficPeers are those of BenchmarkThroughput, beside nginx by hand with a
// static upstream and the same keep-alive.
var trafficPeers = map[string]measure.Peers{
	"throughput beside " + bareName:      {IngressNginx: 0.41, Other: 0.95, OtherName: "NIC, tuned"},
	"CPU per request beside " + bareName: {IngressNginx: 3.1, Other: 1.2, OtherName: "NIC, tuned"},
}

// bareName is what the leaner of the two files by hand is called.
const bareName = "bare nginx by hand"

func (t *traffic) figuresBeside(name string, other *traffic) []measure.Figure {
	rates, costs := t.beside(other)
	list := []measure.Figure{
		{What: "throughput beside " + name, Unit: "x", Samples: rates, Budget: throughputRatio, AtLeast: true},
		{What: "CPU per request beside " + name, Unit: "x", Samples: costs, Budget: cpuRatio},
	}
	for i, f := range list {
		list[i].Peers = trafficPeers[f.What]
	}
	return list
}

// pinTo has all of some processes share one processor, if there is another for
// those who ask and answer.
func pinTo(processor int, pids ...int) {
	if runtime.NumCPU() > 1 {
		for _, pid := range pids {
			measure.Pin(pid, processor)
		}
	}
}

func loadedSluice(b *testing.B, disable string, ports []int, arguments ...string) *sluice {
	b.Helper()
	f := newFolder(b)
	f.fill(b, trafficHosts, ports...)
	f.put(b, "settings.yaml", fmt.Appendf(nil, settings, disable))
	s := start(b, f.path, append([]string{"--configmap", "sluice/sluice"}, arguments...)...)
	measure.AwaitAll(b, s.HTTP, measure.Host(trafficHosts-1), measure.Served)
	return s
}

func loadedByHand(b *testing.B, head, disable string, ports []int) *byHand {
	b.Helper()
	h := newByHand(b, 1, ports...)
	access := "access_log off;"
	if disable == "false" {
		access = fmt.Sprintf(logged, filepath.Join(h.dir, "access"))
	}
	h.head = fmt.Sprintf(head, access)
	h.write(trafficHosts)
	h.start()
	measure.AwaitAll(b, h.port, measure.Host(trafficHosts-1), measure.Served)
	return h
}

// answering starts an nginx that answers 1 kB on two ports of every address, and gives them.
func answering(b *testing.B) []int {
	b.Helper()
	h := newByHand(b, 1)
	ports := []int{kit.Port(b), kit.Port(b)}
	body := make([]byte, 1000)
	for i := range body {
		body[i] = 'x'
	}
	user := ""
	if os.Geteuid() == 0 {
		user = "user www-data;"
	}
	conf := fmt.Sprintf(`%s pid %s/nginx.pid;
worker_processes 1;
error_log stderr;
events { worker_connections 4096; }
http {
access_log off;
keepalive_requests 1000000;
client_body_temp_path %[2]s/body; proxy_temp_path %[2]s/proxy; fastcgi_temp_path %[2]s/fastcgi; uwsgi_temp_path %[2]s/uwsgi; scgi_temp_path %[2]s/scgi;
server { listen %d; listen %d; return 200 "%s"; }
}
`, user, h.dir, ports[0], ports[1], body)
	if err := os.WriteFile(h.conf(), []byte(conf), 0o644); err != nil {
		b.Fatal(err)
	}
	h.start()
	measure.AwaitAll(b, ports[1], "any", measure.Served)
	pinTo(1, h.PID())
	return ports
}

// traffic is what one of the two got done, a sample for each turn.
type traffic struct {
	pid        int
	to         target
	rate, cost []float64 // requests a second; microseconds of processor a request
}

func (t *traffic) load(b *testing.B, turn time.Duration) {
	b.Helper()
	before, began := measure.CPUOf(t.pid).Sum(), time.Now()
	requests := clients(b, t.to, turn)
	took, used := time.Since(began).Seconds(), measure.CPUOf(t.pid).Sum()-before
	t.rate = append(t.rate, float64(requests)/took)
	t.cost = append(t.cost, used/float64(requests)*1e6)
}

// beside divides turn by turn.
func (t *traffic) beside(other *traffic) (rates, costs []float64) {
	for i := range t.rate {
		rates, costs = append(rates, t.rate[i]/other.rate[i]), append(costs, t.cost[i]/other.cost[i])
	}
	return rates, costs
}

// stopAfter ends a process that does not end by itself.
func stopAfter(pid int, limit time.Duration) *time.Timer {
	return time.AfterFunc(limit, func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
}
