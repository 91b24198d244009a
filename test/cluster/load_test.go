package cluster

import (
	"context"
	"crypto/tls"
	"errors"
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

// traffic is what a number of clients send, each one request after the other.
type traffic struct {
	// what names it in the figures.
	what   string
	method string // GET if empty
	// urls are asked in turn.
	urls []string
	// to is the address and port that all connections go to.
	to string
	// kept has each client keep its connection, as browsers and proxies do. A GET
	// over a kept connection that ends without an answer is sent again, once, as
	// RFC 9110, 9.2.2 allows: net/http does that by itself. Else each request has
	// a connection of its own, and none is sent twice.
	kept bool
	// proto is what answers have to come in, such as HTTP/2.0; any if empty.
	// Clients ask for it where the URL begins with https.
	proto   string
	clients int
	// pause is what a client waits between an answer and the next request.
	pause time.Duration
	// thought is how long a pod thinks about each request.
	thought time.Duration
}

// load is traffic that goes on until end.
type load struct {
	traffic
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

// begin has the clients send, until end or the end of the test.
func (tr traffic) begin(t testing.TB) *load {
	t.Helper()
	l := &load{traffic: tr, began: time.Now(), stop: make(chan struct{})}
	for i := range tr.clients {
		l.clients.Go(func() { l.run(i) })
	}
	t.Cleanup(func() { l.end() })
	return l
}

func (l *load) run(first int) {
	dialer := &net.Dialer{Timeout: kit.RequestPatience}
	transport := &http.Transport{
		DisableKeepAlives: !l.kept, DisableCompression: true, MaxIdleConnsPerHost: len(l.urls),
		ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, l.to)
		},
	}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: kit.RequestPatience}
	for i := first; ; i++ {
		select {
		case <-l.stop:
			return
		case <-time.After(l.pause):
		}
		began := time.Now()
		err := l.send(client, l.urls[i%len(l.urls)])
		l.note(began, err)
	}
}

func (l *load) send(client *http.Client, url string) error {
	request, err := http.NewRequest(l.method, url, nil)
	if l.method == http.MethodPost {
		request, err = http.NewRequest(l.method, url, strings.NewReader("what is posted"))
	}
	if err != nil {
		return err
	}
	if l.thought > 0 {
		request.Header.Set(DelayHeader, l.thought.String())
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
	if l.proto != "" && response.Proto != l.proto {
		return fmt.Errorf("%s: answered in %s", url, response.Proto)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: status %d %.200q", url, response.StatusCode, body)
	}
	return nil
}

func (l *load) note(began time.Time, err error) {
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
func (l *load) end() {
	l.mu.Lock()
	select {
	case <-l.stop:
	default:
		close(l.stop)
	}
	l.mu.Unlock()
	l.clients.Wait()
}

// failed are the failures of requests that were sent from a moment on.
func (l *load) failed(since time.Time) []failure {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(l.failures), func(f failure) bool { return l.began.Add(f.after).Before(since) })
}

// tell ends the load and prints its figures, and the first failures.
func (l *load) tell(t testing.TB) {
	t.Helper()
	l.end()
	seconds := time.Since(l.began).Seconds()
	slices.Sort(l.took)
	t.Logf("%s: %d requests in %.1f s, %d failed, p50 %s, p99 %s, max %s",
		l.what, len(l.took)+len(l.failures), seconds, len(l.failures), l.quantile(0.5), l.quantile(0.99), l.quantile(1))
	for i, f := range l.failures {
		if i == 5 {
			break
		}
		t.Logf("%s: failed after %.3f s: %s", l.what, f.after.Seconds(), f.text)
	}
}

// quantile gives the time within which a share of the requests was answered.
func (l *load) quantile(share float64) time.Duration {
	if len(l.took) == 0 {
		return 0
	}
	return l.took[min(len(l.took)-1, int(share*float64(len(l.took))))].Round(10 * time.Microsecond)
}

// none ends the load, prints its figures, and fails the test if a request
// failed or fewer were answered than are to be.
func (l *load) none(t testing.TB, least int) {
	t.Helper()
	l.tell(t)
	if len(l.failures) > 0 {
		t.Errorf("%s: %d of %d requests failed", l.what, len(l.failures), len(l.took)+len(l.failures))
	}
	if len(l.took) < least {
		t.Errorf("%s: %d requests were answered, which says little: want %d", l.what, len(l.took), least)
	}
}

// at is where a sluice listens for HTTP.
func (s *Sluice) at() string { return net.JoinHostPort("127.0.0.1", fmt.Sprint(s.HTTP)) }

// reloads counts the reloads of nginx that were confirmed.
func (s *Sluice) reloads(t testing.TB) int {
	t.Helper()
	count := 0
	for _, line := range s.Log.Lines(t, "msg=sync ") {
		if strings.Contains(line, "reload=true") {
			count++
		}
	}
	return count
}

// alone are the flags of a sluice that looks at no namespace but its own.
func alone(name string, more ...string) []string {
	return flagsFor(name, append([]string{"--watch-namespace", name}, more...)...)
}

// answers is what a check gives if a request has another status, or none.
func (r Request) answers(ctx context.Context, status int) error {
	answer, err := r.Do(ctx)
	if err == nil && answer.Status != status {
		err = fmt.Errorf("%s: status %d %.100q", r.URL, answer.Status, answer.Body)
	}
	return err
}

// must fails the test if a request is not answered with a status at once.
func (r Request) must(t testing.TB, status int) {
	t.Helper()
	if err := r.answers(t.Context(), status); err != nil {
		t.Error(errors.Join(fmt.Errorf("want %d at once", status), err))
	}
}
