package e2e

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sluice/test/kit"
)

// answer is what a request got.
type answer struct {
	status    int
	backend   string // who answered, for answers of a backend
	body      string
	header    http.Header
	presented *x509.Certificate
}

// get asks over a connection of its own, without following redirects.
func (s *sluice) get(url string) (answer, error) {
	return s.ask(http.MethodGet, url, nil)
}

// ask sends "http://host/path" or "https://host/path" to sluice's ports.
func (s *sluice) ask(method, url string, header http.Header) (answer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), kit.RequestPatience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return answer{}, err
	}
	for key, values := range header {
		request.Header[key] = values
	}
	transport := s.transport()
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}, err
	}
	a := answer{status: response.StatusCode, body: string(body), header: response.Header}
	var echoed struct{ Backend string }
	if json.Unmarshal(body, &echoed) == nil {
		a.backend = echoed.Backend
	}
	if response.TLS != nil && len(response.TLS.PeerCertificates) > 0 {
		a.presented = response.TLS.PeerCertificates[0]
	}
	return a, nil
}

// transport dials sluice whatever the host, one connection a request.
func (s *sluice) transport() *http.Transport {
	dialer := &net.Dialer{}
	return &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			port := s.HTTP
			if strings.HasSuffix(address, ":443") {
				port = s.HTTPS
			}
			return dialer.DialContext(ctx, network, fmt.Sprintf("127.0.0.1:%d", port))
		},
	}
}

// waitBackend waits until a URL is answered by a backend.
func (s *sluice) waitBackend(url, backend string) {
	s.t.Helper()
	var last answer
	var err error
	defer func() {
		if s.t.Failed() {
			s.t.Logf("the last answer of %s: %d from %q, error %v", url, last.status, last.backend, err)
		}
	}()
	eventually(s.t, url+" to be answered by "+backend, func() bool {
		last, err = s.get(url)
		return err == nil && last.backend == backend
	})
	s.settle()
}

// settle waits until the workers from before a reload accept nothing more: when a first answer is that of
// the new ones, the next can still be theirs.
func (s *sluice) settle() { s.reloads() }

// waitStatus waits until a URL is answered with a status, and by new workers only.
func (s *sluice) waitStatus(url string, status int) {
	s.t.Helper()
	last := 0
	defer func() {
		if s.t.Failed() {
			s.t.Logf("the last status of %s: %d", url, last)
		}
	}()
	eventually(s.t, fmt.Sprintf("%s to be answered with %d", url, status), func() bool {
		a, err := s.get(url)
		last = a.status
		return err == nil && a.status == status
	})
	s.settle()
}

// backend starts an echo backend that says its name.
func backend(t *testing.T, name string) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(echo(name))
	t.Cleanup(server.Close)
	return server
}

func echo(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"Backend": name, "Host": r.Host, "URI": r.RequestURI, "Method": r.Method, "Header": r.Header,
		})
	})
}

// portOf is the port of a backend.
func portOf(server *httptest.Server) int {
	return server.Listener.Addr().(*net.TCPAddr).Port
}

// load asks a URL again and again, with a number of clients, until stopped.
type load struct {
	requests, failed atomic.Int64
	first            atomic.Pointer[string]
	stopping         chan struct{}
	done             chan struct{}
}

// breath is how long a client of a load waits between an answer and its next request. Two
// clients without it keep two cores busy as long as a test waits for reloads, to no use: in each of
// those a dozen requests are under way all the same.
const breath = 2 * time.Millisecond

// generate starts a load. A request fails if it is not answered with 200.
func (s *sluice) generate(url string, clients int) *load { return s.press(url, clients, breath) }

// press is generate with another time between requests.
func (s *sluice) press(url string, clients int, between time.Duration) *load {
	l := &load{stopping: make(chan struct{}), done: make(chan struct{}, clients)}
	for range clients {
		go func() {
			defer func() { l.done <- struct{}{} }()
			for {
				select {
				case <-l.stopping:
					return
				case <-time.After(between):
					l.one(s, url)
				}
			}
		}()
	}
	s.t.Cleanup(func() { l.stop() })
	return l
}

func (l *load) one(s *sluice, url string) {
	a, err := s.get(url)
	l.requests.Add(1)
	if err == nil && a.status == http.StatusOK {
		return
	}
	l.failed.Add(1)
	text := fmt.Sprintf("status %d, error %v", a.status, err)
	l.first.CompareAndSwap(nil, &text)
}

// stop ends the load and gives the figures.
func (l *load) stop() (requests, failed int64) {
	select {
	case <-l.stopping:
	default:
		close(l.stopping)
		for range cap(l.done) {
			<-l.done
		}
	}
	return l.requests.Load(), l.failed.Load()
}

// none fails the test if a request failed.
func (l *load) none(t *testing.T) {
	t.Helper()
	requests, failed := l.stop()
	if failed > 0 || requests == 0 {
		first := l.first.Load()
		if first == nil {
			first = new(string)
		}
		t.Errorf("%d of %d requests failed; the first: %s", failed, requests, *first)
	}
	t.Logf("%d requests, %d failed", requests, failed)
}
