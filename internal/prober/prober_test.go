package prober

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/healthcheck"
	"sluice/internal/model"
)

func usual() *model.Check {
	return &model.Check{Path: "/healthz", From: 200, To: 399, Interval: 10, Timeout: 2, Healthy: 2, Unhealthy: 3}
}

func quiet() *Prober { return New(slog.New(slog.DiscardHandler)) }

func at(t *testing.T, address string) model.Endpoint {
	t.Helper()
	a, err := netip.ParseAddrPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return model.Endpoint{Address: a.Addr().String(), Port: int(a.Port())}
}

// TestAnswers asks a server for each answer.
func TestAnswers(t *testing.T) {
	t.Parallel()
	redirected := atomic.Bool{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/teapot":
			w.WriteHeader(http.StatusTeapot)
		case "/moved":
			http.Redirect(w, r, "/followed", http.StatusFound)
		case "/followed":
			redirected.Store(true)
		case "/host":
			if r.Host != "shop.example" {
				w.WriteHeader(http.StatusBadRequest)
			}
		case "/address":
			if r.Host != r.Context().Value(http.LocalAddrContextKey).(net.Addr).String() {
				w.WriteHeader(http.StatusBadRequest)
			}
		case "//etc/a:b":
			if r.RequestURI != "//etc/a:b?c=%41" || r.UserAgent() != "sluice-health-check" {
				w.WriteHeader(http.StatusBadRequest)
			}
		case "/body":
			for r.Context().Err() == nil {
				_, _ = w.Write(make([]byte, 1<<20))
			}
		case "/header":
			w.Header().Set("X-Long", strings.Repeat("a", mostHeaderBytes))
		case "/hangs":
			<-r.Context().Done()
		}
	}))
	t.Cleanup(server.Close)
	endpoint := at(t, server.Listener.Addr().String())
	for _, c := range []struct {
		change func(*model.Check)
		want   string
	}{
		{func(*model.Check) {}, ""},
		{func(c *model.Check) { c.Path = "/teapot" }, "status 418"},
		{func(c *model.Check) { c.Path, c.To = "/teapot", 418 }, ""},
		{func(c *model.Check) { c.From = 201 }, "status 200"},
		{func(c *model.Check) { c.Path = "/moved" }, ""},
		{func(c *model.Check) { c.Path, c.To = "/moved", 299 }, "status 302"},
		{func(c *model.Check) { c.Path, c.Host = "/host", "shop.example" }, ""},
		{func(c *model.Check) { c.Path = "/address" }, ""},
		{func(c *model.Check) { c.Path = "//etc/a:b?c=%41" }, ""},
		{func(c *model.Check) { c.Path = "/body" }, ""},
		{func(c *model.Check) { c.Path = "/header" }, "no valid HTTP answer"},
		{func(c *model.Check) { c.Path, c.Timeout = "/hangs", 1 }, "no answer within 1 s"},
		{func(c *model.Check) { c.TLS = true }, "no TLS connection"},
	} {
		check := *usual()
		c.change(&check)
		if got := quiet().ask(t.Context(), healthcheck.Target{Check: check, Endpoint: endpoint}); got != c.want {
			t.Errorf("%s: %q, want %q", check.Path, got, c.want)
		}
	}
	if redirected.Load() {
		t.Error("a redirect was followed")
	}
}

// TestTLS: the certificate is not verified, and the name is sent by SNI.
func TestTLS(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS.ServerName != strings.TrimPrefix(r.URL.Path, "/") {
			w.WriteHeader(http.StatusMisdirectedRequest)
		}
	}))
	t.Cleanup(server.Close)
	for _, name := range []string{"", "web.internal"} {
		check := *usual()
		check.TLS, check.Name, check.Path = true, name, "/"+name
		if got := quiet().ask(t.Context(), healthcheck.Target{Check: check, Endpoint: at(t, server.Listener.Addr().String())}); got != "" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestPort: a check with its own port is plain HTTP there.
func TestPort(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	endpoint, check := at(t, server.Listener.Addr().String()), *usual()
	check.Port, endpoint.Port = endpoint.Port, 1
	if got := quiet().ask(t.Context(), healthcheck.Target{Check: check, Endpoint: endpoint}); got != "" {
		t.Error(got)
	}
	server.Close()
	if got := quiet().ask(t.Context(), healthcheck.Target{Check: check, Endpoint: endpoint}); got != "connection refused" {
		t.Error(got)
	}
}

// TestReasonHasNoTextOfTheEndpoint: reasons are shown to others.
func TestReasonHasNoTextOfTheEndpoint(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("HTTP/1.1 hostile\r\n\r\n"))
			_ = conn.Close()
		}
	}()
	if got := quiet().ask(t.Context(), healthcheck.Target{Check: *usual(), Endpoint: at(t, listener.Addr().String())}); got != "no valid HTTP answer" {
		t.Error(got)
	}
}

// network is a network in memory with one web server for each address.
type network struct {
	mu     sync.Mutex
	broken map[string]bool
	asked  map[string]int
}

func (n *network) dial(_ context.Context, _, address string) (net.Conn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked[address]++
	if n.broken[address] {
		return nil, errors.New("broken")
	}
	client, server := net.Pipe()
	go func() {
		buffer := make([]byte, 4096)
		if _, err := server.Read(buffer); err == nil {
			_, _ = fmt.Fprint(server, "HTTP/1.1 204 No Content\r\n\r\n")
		}
		_ = server.Close()
	}()
	return client, nil
}

func (n *network) set(address string, broken bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.broken[address] = broken
}

// TestRun: an endpoint leaves and comes back, with one signal each.
func TestRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		net := &network{broken: map[string]bool{}, asked: map[string]int{}}
		var log bytes.Buffer
		p := dialling(slog.New(slog.NewTextHandler(&log, nil)), net.dial)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan bool)
		go func() { p.Run(ctx); close(ended) }()
		d := model.Dynamic{Backends: []*model.Backend{{Key: "shop/web/80~c", Balancing: &model.Balancing{Check: usual()},
			Endpoints: []model.Endpoint{{Address: "10.0.0.1", Port: 80}, {Address: "10.0.0.2", Port: 80}}}}}
		p.Use(d)
		time.Sleep(time.Hour)
		select {
		case <-p.Watch():
			t.Error("a signal without a change")
		default:
		}
		if n := net.asked["10.0.0.1:80"]; n < 300 || n > 361 {
			t.Errorf("%d checks in an hour, want one each 10 to 11 seconds", n)
		}
		net.set("10.0.0.2:80", true)
		<-p.Watch()
		if b := p.Apply(d).Backends[0]; len(b.Endpoints) != 1 || len(b.Failing) != 1 {
			t.Errorf("%+v", b)
		}
		net.set("10.0.0.2:80", false)
		<-p.Watch()
		if b := p.Apply(d).Backends[0]; len(b.Endpoints) != 2 || len(b.Failing) != 0 {
			t.Errorf("%+v", b)
		}
		cancel()
		<-ended
		if text := log.String(); strings.Count(text, "\n") != 2 || !strings.Contains(text, "failing=1 before=0") || !strings.Contains(text, "failing=0 before=1") {
			t.Errorf("the log is %s", text)
		}
	})
}
