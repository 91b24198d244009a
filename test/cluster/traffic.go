package cluster

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice/test/kit"
)

// Traffic is what a number of clients send, each one request after the other.
type Traffic struct {
	// What names it in the figures.
	What   string
	Method string // GET if empty
	// URLs are asked in turn.
	URLs []string
	// To is the address and port that all connections go to.
	To string
	// Kept has each client keep its connection, as browsers and proxies do. A GET
	// over a kept connection that ends without an answer is sent again, once, as
	// RFC 9110, 9.2.2 allows: net/http does that by itself. Else each request has
	// a connection of its own, and none is sent twice.
	Kept bool
	// Proto is what answers have to come in, such as HTTP/2.0; any if empty.
	// Clients ask for it where the URL begins with https.
	Proto   string
	Clients int
	// Pause is what a client waits between an answer and the next request.
	Pause time.Duration
	// Every, in place of Pause, has each client send at a constant rate, as far as
	// the answers let it.
	Every time.Duration
	// Thought is how long a pod thinks about each request.
	Thought time.Duration
}

// Load is traffic that goes on until end.
type Load struct {
	Traffic
	began    time.Time
	stop     chan struct{}
	clients  sync.WaitGroup
	answered atomic.Int64

	mu       sync.Mutex
	took     []time.Duration // of the requests that did not fail
	failures []failure
}

// failure is a request that was not answered with 200, whole.
type failure struct {
	after time.Duration // since the load began
	text  string
}

// Begin has the clients send, until end or the end of the test.
func (tr Traffic) Begin(t testing.TB) *Load {
	t.Helper()
	l := &Load{Traffic: tr, began: time.Now(), stop: make(chan struct{})}
	for i := range tr.Clients {
		l.clients.Go(func() { l.run(i) })
	}
	t.Cleanup(func() { l.end() })
	return l
}

func (l *Load) run(first int) {
	dialer := &net.Dialer{Timeout: kit.RequestPatience}
	transport := &http.Transport{
		DisableKeepAlives: !l.Kept, DisableCompression: true, MaxIdleConnsPerHost: len(l.URLs),
		ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, l.To)
		},
	}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: kit.RequestPatience}
	for i, due := first, time.Now(); ; i++ {
		due = due.Add(l.Every)
		select {
		case <-l.stop:
			return
		case <-time.After(max(l.Pause, time.Until(due))):
		}
		began := time.Now()
		err := l.send(client, l.URLs[i%len(l.URLs)])
		l.note(began, err)
	}
}

func (l *Load) send(client *http.Client, url string) error {
	request, err := http.NewRequest(l.Method, url, nil)
	if l.Method == http.MethodPost {
		request, err = http.NewRequest(l.Method, url, strings.NewReader("what is posted"))
	}
	if err != nil {
		return err
	}
	if l.Thought > 0 {
		request.Header.Set(DelayHeader, l.Thought.String())
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("status %d, and then: %w", response.StatusCode, err)
	}
	if l.Proto != "" && response.Proto != l.Proto {
		return fmt.Errorf("%s: answered in %s", url, response.Proto)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: status %d %.200q", url, response.StatusCode, body)
	}
	return nil
}

func (l *Load) note(began time.Time, err error) {
	took := time.Since(began)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.failures = append(l.failures, failure{after: began.Sub(l.began), text: err.Error()})
		return
	}
	l.took = append(l.took, took)
	l.answered.Add(1)
}

// end stops the clients and waits for their last answers. It may be called again.
func (l *Load) end() {
	l.mu.Lock()
	select {
	case <-l.stop:
	default:
		close(l.stop)
	}
	l.mu.Unlock()
	l.clients.Wait()
}

// Answered is how many requests have been answered so far.
func (l *Load) Answered() int64 { return l.answered.Load() }

// failed are the failures of requests that were sent from a moment on.
func (l *Load) failed(since time.Time) []failure {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(l.failures), func(f failure) bool { return l.began.Add(f.after).Before(since) })
}

// Tell ends the load and prints its figures, and the first failures.
func (l *Load) Tell(t testing.TB) {
	t.Helper()
	l.end()
	seconds := time.Since(l.began).Seconds()
	slices.Sort(l.took)
	t.Logf("%s: %d requests in %.1f s, %d failed, p50 %s, p99 %s, max %s",
		l.What, len(l.took)+len(l.failures), seconds, len(l.failures), l.quantile(0.5), l.quantile(0.99), l.quantile(1))
	for i, f := range l.failures {
		if i == 5 {
			break
		}
		t.Logf("%s: failed after %.3f s: %s", l.What, f.after.Seconds(), f.text)
	}
}

// quantile gives the time within which a share of the requests was answered.
func (l *Load) quantile(share float64) time.Duration {
	if len(l.took) == 0 {
		return 0
	}
	return l.took[min(len(l.took)-1, int(share*float64(len(l.took))))].Round(10 * time.Microsecond)
}

// NoneFailed ends the load, prints its figures, and fails the test if a request
// failed or fewer were answered than are to be.
func (l *Load) NoneFailed(t testing.TB, least int) {
	t.Helper()
	l.Tell(t)
	if len(l.failures) > 0 {
		t.Errorf("%s: %d of %d requests failed", l.What, len(l.failures), len(l.took)+len(l.failures))
	}
	if len(l.took) < least {
		t.Errorf("%s: %d requests were answered, which says little: want %d", l.What, len(l.took), least)
	}
}
