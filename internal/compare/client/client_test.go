package client

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sluice/internal/compare"
	"sluice/internal/route"
)

// listen answers each connection with a text, and passes on what it read up to an empty line.
func listen(t *testing.T, answer string) (address string, read chan string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	read = make(chan string, 1000)
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			var text strings.Builder
			in := bufio.NewReader(connection)
			for !strings.HasSuffix(text.String(), "\r\n\r\n") {
				line, err := in.ReadString('\n')
				if text.WriteString(line); err != nil {
					break
				}
			}
			read <- text.String()
			fmt.Fprint(connection, answer)
			connection.Close()
		}
	}()
	return listener.Addr().String(), read
}

// TestBytesOnTheWire holds that the target and the host reach the wire as they are.
func TestBytesOnTheWire(t *testing.T) {
	t.Parallel()
	address, read := listen(t, "HTTP/1.1 204 No Content\r\nX-A: 1\r\nX-A: 2\r\n\r\n")
	for _, target := range []string{"/", "//x", "/a/../b", "/%2f%2E%zz", "/[]{}|\\\"<>^`", "/ü?a=b&&c#d", "/?"} {
		r := compare.Request{Method: "GET", Scheme: "http", Host: "SHOP.example:80", Target: target, Headers: []route.Header{{Name: "X-Canary", Value: "always"}, {Name: "User-Agent", Value: "mine"}}}
		answer := (&Client{Timeout: time.Minute}).Ask(t.Context(), address, r)
		want := "GET " + target + " HTTP/1.1\r\nHost: SHOP.example:80\r\nAccept: */*\r\nConnection: close\r\nX-Canary: always\r\nUser-Agent: mine\r\n\r\n"
		if got := <-read; got != want || answer.Status != 204 || answer.Fault != "" {
			t.Errorf("sent %q, want %q; got %+v", got, want, answer)
		}
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody.Close()
	closing, _ := listen(t, "")
	garbage, _ := listen(t, "SSH-2.0\r\n\r\n")
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	for _, test := range []struct{ address, scheme, want string }{
		{silent.Addr().String(), "http", "does not answer in time"},
		{silent.Addr().String(), "https", "does not answer in time"},
		{nobody.Addr().String(), "http", CannotConnect},
		{closing, "http", "closes the connection without an answer"},
		{garbage, "http", "closes the connection without an answer"},
		{plain.Listener.Addr().String(), "https", "fails in the TLS handshake"},
	} {
		timeout := time.Minute
		if strings.Contains(test.want, "time") {
			timeout = 100 * time.Millisecond
		}
		answer := (&Client{Timeout: timeout}).Ask(t.Context(), test.address, compare.Request{Method: "GET", Scheme: test.scheme, Host: "a", Target: "/"})
		if answer.Fault != test.want {
			t.Errorf("%s: got %q, want %q", test.scheme, answer.Fault, test.want)
		}
	}
}

// TestAnswer holds what is read of an answer: no redirect is followed, the certificate is
// that of the connection, and an interim response is passed over.
func TestAnswer(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Link", "</x>")
		w.WriteHeader(http.StatusEarlyHints)
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	}))
	defer server.Close()
	answer := (&Client{Timeout: time.Minute, Body: true}).Ask(t.Context(), server.Listener.Addr().String(), compare.Request{Method: "GET", Scheme: "https", Host: "example.com", Target: "/"})
	if answer.Status != 302 || asked.Load() != 1 || answer.Certificate == nil || !strings.Contains(answer.Certificate.String(), "example.com") || !strings.HasPrefix(answer.Body, "33 bytes") {
		t.Errorf("%d requests, %+v", asked.Load(), answer)
	}
}

func runOf(a, b string) *Run {
	return &Run{
		Client: Client{Timeout: time.Minute}, Addresses: [2]compare.Addresses{{HTTP: a}, {HTTP: b}}, Rate: 10_000, Concurrency: 3, Tries: 4,
		Progress: func(int, int) {},
	}
}

// TestRunAsksAgain holds that equal answers are asked for once, and others as often as Tries.
func TestRunAsksAgain(t *testing.T) {
	t.Parallel()
	a, readA := listen(t, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	b, readB := listen(t, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
	requests := []compare.Request{{Method: "GET", Scheme: "http", Host: "a", Target: "/1"}, {Method: "GET", Scheme: "http", Host: "a", Target: "/2"}}
	same, err := runOf(a, a).All(t.Context(), requests)
	if err != nil || len(readA) != 4 || !same[0].Same() {
		t.Errorf("%v: %d requests, %+v", err, len(readA), same)
	}
	different, err := runOf(a, b).All(t.Context(), requests)
	if err != nil || len(readA) != 12 || len(readB) != 8 || different[0].Same() || different[1].Request.Target != "/2" {
		t.Errorf("%v: %d and %d requests, %+v", err, len(readA), len(readB), different)
	}
}

// TestRunEndsWithoutController holds that a run ends if a controller is gone.
func TestRunEndsWithoutController(t *testing.T) {
	t.Parallel()
	a, _ := listen(t, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody.Close()
	_, err = runOf(a, nobody.Addr().String()).All(t.Context(), slices.Repeat([]compare.Request{{Method: "GET", Scheme: "http", Host: "a", Target: "/"}}, 50))
	if err == nil || !strings.Contains(err.Error(), "takes no connections") {
		t.Errorf("got %v", err)
	}
}

// TestRunKeepsTheRate holds that requests wait for their turn.
func TestRunKeepsTheRate(t *testing.T) {
	t.Parallel()
	a, read := listen(t, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	run := runOf(a, a)
	run.Rate = 0.001 // the first request goes at once, the second in a quarter of an hour
	ctx, cancel := context.WithCancel(t.Context())
	run.Progress = func(int, int) { cancel() }
	_, err := run.All(ctx, []compare.Request{{Method: "GET", Scheme: "http", Host: "a", Target: "/"}, {Method: "GET", Scheme: "http", Host: "a", Target: "/"}})
	if err == nil || len(read) != 2 {
		t.Errorf("%v: %d requests", err, len(read))
	}
}
