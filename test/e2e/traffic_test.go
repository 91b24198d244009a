package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"sluice/test/kit"
)

// TestEndpointsAndReloadsUnderLoad: 1,000 changes of endpoints while 20 reloads
// happen, and not one failed request.
func TestEndpointsAndReloadsUnderLoad(t *testing.T) {
	oneNginxAlone(t, func(t *testing.T, root string) {
		all := []*httptest.Server{backend(t, "0"), backend(t, "1"), backend(t, "2")}
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", all...), "a.yaml": ingress("a", "a.example", []string{"/ Prefix web"}),
		})
		s.waitBackend("http://a.example/", "0")
		before, load := s.reloads(), s.generate("http://a.example/", 2)
		for i := range 1000 {
			s.write("web.yaml", service("web", all[i%3]))
			if i%50 == 49 {
				s.write("b.yaml", ingress("b", "b.example", []string{fmt.Sprintf("/v%d Prefix web", i)}))
				s.waitBackend(fmt.Sprintf("http://b.example/v%d", i), fmt.Sprint(i%3))
			}
		}
		load.none(t)
		eventually(t, "20 reloads", func() bool { return s.reloads()-before >= 20 })
		if now := s.reloads(); now-before > 20 {
			t.Errorf("%d reloads for 20 changes of Ingresses", now-before)
		}
	})
}

// TestKeptConnectionsAcrossReloads: clients that keep their connection and send
// an idempotent request again when the server closed it, as RFC 9110, 9.2.2
// allows, see no failure. What others see is printed.
func TestKeptConnectionsAcrossReloads(t *testing.T) {
	eachNginxAlone(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, oneHost(web))
		s.waitBackend("http://a.example/", "web")
		ctx, cancel := context.WithCancel(t.Context())
		retrying, plain := s.retrying(ctx), s.withoutRetry(ctx)
		for i := range 30 {
			s.write("b.yaml", ingress("b", "b.example", []string{fmt.Sprintf("/v%d Prefix web", i)}))
			s.waitBackend(fmt.Sprintf("http://b.example/v%d", i), "web")
		}
		cancel()
		<-retrying.done
		<-plain.done
		if retrying.failed.Load() > 0 || retrying.requests.Load() == 0 {
			t.Errorf("with retry: %d of %d requests failed", retrying.failed.Load(), retrying.requests.Load())
		}
		t.Logf("with retry: %d requests, 0 failed; without: %d requests, %d failed in 30 reloads",
			retrying.requests.Load(), plain.requests.Load(), plain.failed.Load())
	})
}

// counts are the figures of one client.
type counts struct {
	requests, failed atomic.Int64
	done             chan struct{}
}

// count asks until ctx ends, with a breath between.
func count(ctx context.Context, ask func() error) *counts {
	c := &counts{done: make(chan struct{})}
	go func() {
		defer close(c.done)
		for ; ctx.Err() == nil; time.Sleep(breath) {
			c.requests.Add(1)
			if ask() != nil {
				c.failed.Add(1)
			}
		}
	}()
	return c
}

// retrying is Go's client, which retries idempotent requests on a connection
// that was closed under it.
func (s *sluice) retrying(ctx context.Context) *counts {
	transport := s.transport()
	transport.DisableKeepAlives = false
	client := &http.Client{Transport: transport, Timeout: kit.Patience}
	return count(ctx, func() error {
		response, err := client.Get("http://a.example/")
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if _, err = io.Copy(io.Discard, response.Body); err == nil && response.StatusCode != http.StatusOK {
			err = fmt.Errorf("status %d", response.StatusCode)
		}
		return err
	})
}

// withoutRetry keeps a connection, sends each request once and connects anew
// after a failure or if the server says that it closes.
func (s *sluice) withoutRetry(ctx context.Context) *counts {
	var connection net.Conn
	var answers *bufio.Reader
	hangUp := func() {
		if connection != nil {
			connection.Close()
			connection = nil
		}
	}
	return count(ctx, func() (err error) {
		if connection == nil {
			if connection, err = net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.HTTP)); err != nil {
				connection = nil
				return err
			}
			answers = bufio.NewReader(connection)
		}
		_ = connection.SetDeadline(time.Now().Add(kit.Patience))
		if _, err = io.WriteString(connection, "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"); err != nil {
			hangUp()
			return err
		}
		response, err := http.ReadResponse(answers, nil)
		if err != nil {
			hangUp()
			return err
		}
		defer response.Body.Close()
		_, err = io.Copy(io.Discard, response.Body)
		if err != nil || response.Close {
			hangUp()
		}
		return err
	})
}
