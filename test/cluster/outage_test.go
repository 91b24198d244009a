package cluster

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"

	"sluice/test/kit"
)

// gate is a way to the API server that can be shut: who goes through it loses
// the API server, and nobody else does.
type gate struct {
	address, server string

	mu       sync.Mutex
	listener net.Listener
	cancel   context.CancelFunc
	carrying sync.WaitGroup
}

// gateTo makes a gate that is shut.
func gateTo(t *testing.T, c *Cluster) *gate {
	t.Helper()
	g := &gate{address: fmt.Sprintf("127.0.0.1:%d", kit.Port(t)), server: c.Address + ":6443"}
	t.Cleanup(g.shut)
	return g
}

// open lets everybody through.
func (g *gate) open(t *testing.T) {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	listener, err := net.Listen("tcp", g.address)
	if err != nil {
		t.Fatal(err)
	}
	var ctx context.Context
	ctx, g.cancel = context.WithCancel(context.Background())
	g.listener = listener
	g.carrying.Go(func() { g.accept(ctx, listener) })
}

func (g *gate) accept(ctx context.Context, listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		g.carrying.Go(func() {
			defer client.Close()
			server, err := (&net.Dialer{}).DialContext(ctx, "tcp", g.server)
			if err == nil {
				join(ctx, client.(*net.TCPConn), server.(*net.TCPConn))
			}
		})
	}
}

// shut cuts all connections, and refuses new ones.
func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.listener == nil {
		return
	}
	g.listener.Close()
	g.cancel()
	g.carrying.Wait()
	g.listener = nil
}

// kubeconfig is the administrator's, through the gate.
func (g *gate) kubeconfig(t *testing.T, c *Cluster) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(c.Kubeconfig(t, "admin", "system:masters"))
	if err != nil {
		t.Fatal(err)
	}
	for _, cluster := range config.Clusters {
		cluster.Server, cluster.TLSServerName = "https://"+g.address, "localhost"
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// unready gives what /readyz says, which has to be 503.
func (s *Sluice) unready(ctx context.Context) (string, error) {
	answer, err := Request{URL: fmt.Sprintf("http://127.0.0.1:%d/readyz", s.Healthz)}.Do(ctx)
	if err != nil {
		return "", err
	}
	if answer.Status != http.StatusServiceUnavailable {
		return "", fmt.Errorf("/readyz: status %d %.300q", answer.Status, answer.Body)
	}
	return answer.Body, nil
}

// TestUnreadyUntilEverythingIsServed: a replica that starts while the API server
// is away says what is missing, and gets no request before it serves all that is
// in the cluster.
func TestUnreadyUntilEverythingIsServed(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	const name, hosts = "unready", 50
	c.Apply(t, Namespace(name))
	c.lend(t, classOf(name))
	c.Apply(t, Web(name, "web", 2)...)
	var urls []string
	for i := range hosts {
		host := fmt.Sprintf("h%d.unready.example", i)
		urls = append(urls, "http://"+host+"/")
		c.Apply(t, ingressOf(name, name, fmt.Sprintf("web-%d", i), Rule(host, "/", "web", 80)))
	}
	c.AwaitEndpoints(t, name, "web", 2)
	g := gateTo(t, c)
	first, second := PrepareSluice(t, c.Kubeconfig(t, "admin", "system:masters"), alone(name)...), PrepareSluice(t, g.kubeconfig(t, c), alone(name)...)
	b := balance(t, first, second)
	first.Launch(t)
	b.await(t, first, true)
	l := Traffic{What: "all hosts through the balancer", URLs: urls, To: b.http, Clients: 4, Pause: 10 * time.Millisecond}.Begin(t)
	second.Launch(t)
	Eventually(t, "what is missing in the text of /readyz", func(ctx context.Context) error {
		text, err := second.unready(ctx)
		for _, part := range []string{"no nginx worker has confirmed", "not all objects are read yet", "the API server cannot be reached"} {
			if err == nil && !strings.Contains(text, part) {
				err = fmt.Errorf("%q is missing in %q", part, text)
			}
		}
		return err
	})
	if n := b.targets[1].taken.Load(); n > 0 {
		t.Errorf("%d connections came to the replica that was not ready", n)
	}
	g.open(t)
	second.AwaitReady(t)
	for _, url := range urls {
		second.Request(url).must(t, http.StatusOK)
	}
	b.await(t, second, true)
	kit.Await(t, "50 connections to the second replica", func() bool { return b.targets[1].taken.Load() >= 50 })
	l.NoneFailed(t, 50)
}

// outage is for how long the API server is away: 20 s, so that all tests do not
// take a minute longer; SLUICE_OUTAGE=60s is how long an upgrade of a control
// plane takes.
func outage(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("SLUICE_OUTAGE")
	if text == "" {
		return 20 * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("SLUICE_OUTAGE: want a duration such as 60s (got %q)", text)
	}
	return d
}

// says answers all requests with a text.
func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
}

// TestAPIServerIsKilled, and comes back: what was served goes on being served,
// without an endpoint that goes away meanwhile, and what is changed right
// afterwards is served within seconds.
func TestAPIServerIsKilled(t *testing.T) {
	t.Parallel()
	c := Start(t)
	const name = "outage"
	leaving, leaver := standIn(t, says("leaving"))
	staying, _ := standIn(t, says("staying"))
	c.Apply(t, Namespace(name), classOf(name))
	c.Apply(t, append(routeTo(name, "web", leaving, staying), ingressOf(name, name, "web", Rule("served.example", "/", "web", 80)))...)
	s := RunSluice(t, c.Kubeconfig(t, "admin", "system:masters"), alone(name)...)
	served := s.Request("http://served.example/")
	EventuallyStatus(t, served, http.StatusOK)
	send := func(what string, kept bool) *Load {
		return Traffic{What: what, URLs: []string{served.URL}, To: s.at(), Kept: kept, Clients: 2, Pause: 20 * time.Millisecond}.Begin(t)
	}
	loads := []*Load{send("a connection a request", false), send("kept connections", true)}
	add := func(name string) (took time.Duration) {
		address, _ := standIn(t, says(name))
		began, reloads := time.Now(), s.reloads(t)
		c.Apply(t, ingressOf("outage", "outage", name, Rule(name+".example", "/", name, 80)))
		c.Apply(t, routeTo("outage", name, address)...)
		EventuallyStatus(t, s.Request("http://"+name+".example/"), http.StatusOK)
		took = time.Since(began)
		kit.Await(t, "the line of the reload", func() bool { return s.reloads(t) > reloads })
		return took
	}
	usual := add("earlier")
	before := s.reloads(t)
	c.StopAPIServer(t)
	away := time.Now()
	leaver.Close()
	<-time.After(outage(t))
	if now := s.reloads(t); now != before {
		t.Errorf("%d reloads while the API server was away", now-before)
	}
	if s.Ready() != http.StatusOK {
		t.Error("not ready while the API server is away, though everything is served")
	}
	c.StartAPIServer(t)
	t.Logf("the API server was away for %.1f s", time.Since(away).Seconds())
	c.Apply(t, routeTo(name, "web", staying)...)
	took := add("next")
	t.Logf("an Ingress that was made right afterwards was served after %.2f s, an earlier one after %.2f s", took.Seconds(), usual.Seconds())
	// The client of the API server tries again after 5 s, half as much more by
	// chance, at the latest.
	if most := 10*time.Second + 5*usual; took > most {
		t.Errorf("it was served after more than %s", most)
	}
	for _, l := range loads {
		l.NoneFailed(t, 50)
	}
	s.absence(t, c)
}

// absence has the API server forget what a sluice has seen last, as after hours
// without a connection: its watches are answered with 410 Gone.
func (s *Sluice) absence(t *testing.T, c *Cluster) {
	t.Helper()
	const name = "absence"
	g := gateTo(t, c)
	g.open(t)
	before, _ := standIn(t, says("before"))
	after, _ := standIn(t, says("after"))
	c.Apply(t, Namespace(name), classOf(name))
	settings := &corev1.ConfigMap{}
	settings.Namespace, settings.Name = name, "settings"
	c.Apply(t, append(routeTo(name, "web", before), ingressOf(name, name, "steady", Rule("steady.example", "/", "web", 80)), ingressOf(name, name, "old", Rule("old.example", "/", "web", 80)), settings)...)
	far := RunSluice(t, g.kubeconfig(t, c), alone(name, "--configmap", name+"/settings")...)
	steady := far.Request("http://steady.example/")
	EventuallyAnswer(t, steady, "the first endpoint", func(a *Answer) bool { return a.Body == "before" })
	l := Traffic{What: "while the API server forgot", URLs: []string{steady.URL}, To: far.at(), Clients: 2, Pause: 20 * time.Millisecond}.Begin(t)
	g.shut()
	settings.Data = map[string]string{"server-tokens": "true"}
	c.Apply(t, settings)
	c.Apply(t, append(routeTo(name, "web", after), ingressOf(name, name, "new", Rule("new.example", "/", "web", 80)))...)
	c.Delete(t, ingressOf(name, name, "old", Rule("old.example", "/", "web", 80)))
	c.CompactEtcd(t)
	g.open(t)
	EventuallyStatus(t, far.Request("http://new.example/"), http.StatusOK)
	EventuallyStatus(t, far.Request("http://old.example/"), http.StatusNotFound)
	EventuallyAnswer(t, steady, "the next endpoint", func(a *Answer) bool { return a.Body == "after" })
	EventuallyAnswer(t, steady, "the next setting", func(a *Answer) bool { return strings.HasPrefix(a.Header.Get("Server"), "nginx/") })
	l.NoneFailed(t, 50)
}
