package bench

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice/test/bench/measure"
)

// What goes on while requests are counted.
const (
	reloadsUnderLoad = 100
	changesUnderLoad = 1_000
)

// BenchmarkFailures counts the requests that fail over 100 reloads and 1,000
// changes of endpoints under load.
func BenchmarkFailures(b *testing.B) {
	for range b.N {
		failures(b)
	}
}

func failures(b *testing.B) {
	b.Helper()
	to := backends(b)
	f := newFolder(b)
	f.fill(b, trafficHosts, to.before...)
	s := start(b, f.path)
	measure.AwaitAll(b, s.HTTP, measure.Host(trafficHosts-1), measure.Served)
	each := []*counter{
		count(b, "a connection a request", 2, func() client { return fresh(s.HTTP) }),
		count(b, "keep-alive, idempotent requests retried", 2, func() client { return retrying(s.HTTP) }),
		count(b, "keep-alive without retry", 2, func() client { return stubborn(s.HTTP) }),
	}
	began := time.Now()
	for round := range reloadsUnderLoad {
		f.put(b, fileName(trafficHosts+round), unit(trafficHosts+round, to.before...))
		measure.AwaitAll(b, s.HTTP, measure.Host(trafficHosts+round), measure.Served)
	}
	b.ReportMetric(time.Since(began).Seconds(), "reloads-took-s")
	began = time.Now()
	for round := range changesUnderLoad {
		changeEndpoints(b, f, s.HTTP, round, to)
	}
	b.ReportMetric(time.Since(began).Seconds(), "changes-took-s")
	reloads := s.count("reload=true")
	for _, c := range each {
		c.end(b, reloads)
	}
}

// changeEndpoints lets one endpoint of the loaded Service come and another go,
// and waits until a worker uses it.
func changeEndpoints(b *testing.B, f folder, port, round int, to endpoints) {
	b.Helper()
	want, ports := "after", to.after
	if round%2 == 1 {
		want, ports = "before", to.before
	}
	f.put(b, fileName(trafficHosts/2), unit(trafficHosts/2, ports...))
	for begun := time.Now(); time.Since(begun) < measure.Patience; time.Sleep(time.Millisecond) {
		if a, err := measure.Ask(port, trafficHost, "/"); err == nil && measure.From(want)(a) {
			return
		}
	}
	b.Fatalf("change %d of endpoints is not effective", round)
}

// client sends one request; an error is a request that failed.
type client func() error

// counter is a number of clients of one kind that ask all the time.
type counter struct {
	what             string
	requests, failed atomic.Int64
	first            atomic.Pointer[string]
	stop             chan struct{}
	all              sync.WaitGroup
}

func count(b *testing.B, what string, clients int, open func() client) *counter {
	b.Helper()
	c := &counter{what: what, stop: make(chan struct{})}
	for range clients {
		ask := open()
		c.all.Go(func() { c.run(ask) })
	}
	return c
}

func (c *counter) run(ask client) {
	for {
		select {
		case <-c.stop:
			return
		default:
		}
		c.requests.Add(1)
		if err := ask(); err != nil {
			c.failed.Add(1)
			text := err.Error()
			c.first.CompareAndSwap(nil, &text)
		}
	}
}

// end stops the clients and reports. No request may fail; of clients that keep
// a connection and do not retry it is only told, because nginx closes
// connections at a reload and HTTP lets the client find that out by itself.
func (c *counter) end(b *testing.B, reloads int) {
	b.Helper()
	close(c.stop)
	c.all.Wait()
	if first := c.first.Load(); first != nil {
		b.Logf("%s: the first failure: %s", c.what, *first)
	}
	measure.Figure{
		What: "failed requests, " + c.what, Unit: "requests", Samples: []float64{float64(c.failed.Load())},
		Work: fmt.Sprintf("of %d, %d reloads, %d changes", c.requests.Load(), reloads, changesUnderLoad),
		None: !strings.HasSuffix(c.what, "without retry"),
	}.Report(b)
}

// fresh asks over a new connection each time.
func fresh(port int) client {
	return func() error {
		a, err := measure.Ask(port, trafficHost, "/api/x")
		if err == nil && !measure.Served(a) {
			err = fmt.Errorf("status %d", a.Status)
		}
		return err
	}
}

// retrying keeps its connection and does what HTTP asks of clients: a GET that
// got no answer over a kept connection is sent again over a new one. net/http
// does so by itself.
// Source: https://www.rfc-editor.org/rfc/rfc9110#section-9.2.2
func retrying(port int) client {
	dialer := &net.Dialer{Timeout: 5 * time.Second}
	c := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{Dial: func(string, string) (net.Conn, error) {
		return dialer.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	}}}
	return func() error {
		response, err := c.Get("http://" + trafficHost + "/api/x")
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			return err
		}
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("status %d", response.StatusCode)
		}
		return nil
	}
}

// stubborn keeps its connection and takes every loss of it as a failure, unless
// the server had announced it.
func stubborn(port int) client {
	request := []byte("GET /api/x HTTP/1.1\r\nHost: " + trafficHost + "\r\n\r\n")
	var conn net.Conn
	var reader *bufio.Reader
	open := false
	return func() error {
		var err error
		if !open {
			if conn, err = net.DialTimeout("tcp4", fmt.Sprintf("127.0.0.1:%d", port), 5*time.Second); err != nil {
				return err
			}
			reader = bufio.NewReader(conn)
		}
		_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
		if open, err = roundTrip(conn, reader, request); !open {
			conn.Close()
		}
		return err
	}
}
